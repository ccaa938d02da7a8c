-- SPDX-License-Identifier: MIT
-- A table, an index, sums and groups.
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 500)
insert into t select i, hex(i * 7919 % 1000), i / 3.0 from n;
create index x on t(b);
select count(*), sum(length(b)), round(avg(c), 3) from t where b like '%3%';
select b, count(*) from t group by substr(b, 1, 2) order by 2 desc, 1 limit 3;
