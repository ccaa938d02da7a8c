// SPDX-License-Identifier: MIT
/** @file Names of C++ and Rust made readable: one by one, damaged, and those of a real library. */
#include "pugmark/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *mangled, *readable;
} demangled[] = {
    {"_Z3fibj", "fib(unsigned int)"},
    {"_ZN5clang4Sema3runEv", "clang::Sema::run()"},
    {"_ZNK3foo3barIiEEvT_PKc", "void foo::bar<int>(int, char const*) const"},
    {"_ZNSt6vectorIiSaIiEE9push_backERKi",
     "std::vector<int, std::allocator<int> >::push_back(int const&)"},
    {"_ZN4NodeC2ERKS_", "Node::Node(Node const&)"},
    {"_ZN4NodeD1Ev", "Node::~Node()"},
    {"_Z4callPFviEM1AKFvvE", "call(void (*)(int), void (A::*)() const)"},
    {"_Z3sumRA10_Ki", "sum(int const (&) [10])"},
    {"_ZlsRSoRK5Point", "operator<<(std::ostream&, Point const&)"},
    {"_ZTV4Base", "vtable for Base"},
    {"_ZGVZ3getvE5value", "guard variable for get()::value"},
    {"_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int) const"},
    {"_Z5printIJidPKcEEvDpT_", "void print<int, double, char const*>(int, double, char const*)"},
    {"_Z7forwardIJiRcEEvDpOT_", "void forward<int, char&>(int&&, char&)"},
    {"_Z3runI1FJEEvR1MIT_JDpT0_EE", "void run<F>(M<F>&)"},
    {"_ZN1A1fILb1ELin3EEEvv", "void A::f<true, -3>()"},
    {"_ZNSt6thread8_InvokerISt5tupleIJPFiiiEiiEEE9_M_invokeIJLm0ELm1ELm2EEEEiSt12_Index_"
     "tupleIJXspT_EEE",
     "int std::thread::_Invoker<std::tuple<int (*)(int, int), int, int> >::_M_invoke<0ul, 1ul, "
     "2ul>(std::_Index_tuple<0ul, 1ul, 2ul>)"},
    {"_Z1fIJEE1AIJXspT_EEEv", "A<> f<>()"},
    {"_Z1fIJLi1ELi2EEE1AIJXspplT_Li1EEEEv", "A<(1)+(1), (2)+(1)> f<1, 2>()"},
    {"_Z5trailIiEDTplfp_Li1EET_", "decltype ({parm#1}+(1)) trail<int>(int)"},
    {"_Z1fIiEDTfpTET_", "decltype (this) f<int>(int)"},
    {"_Z1fIiEDTcmppfp_mm_fp_ET_", "decltype (({parm#1}++),(--{parm#1})) f<int>(int)"},
    {"_Z6trail2I1SiEDTcldtfp_1ffp0_EET_T0_",
     "decltype (({parm#1}.f)({parm#2})) trail2<S, int>(S, int)"},
    {"_Z3memI1SEDTclptadfp_1fLi1EEET_", "decltype (((&{parm#1})->f)(1)) mem<S>(S)"},
    {"_Z3calI1SEDTclclsr3stdE7declvalIT_EELi1EEES1_",
     "decltype (((std::declval<S>)())(1)) cal<S>(S)"},
    {"_Z1fIiEDTcl1gIT_Efp_EES0_", "decltype ((g<int>)({parm#1})) f<int>(int)"},
    {"_Z1fIiEDTcl1gspfp_EET_", "decltype (g({parm#1}...)) f<int>(int)"},
    {"_Z1fIJicEEDTcl1gspclsr3stdE7declvalIT_EEEEDpS0_DpRKS0_",
     "decltype (g((std::declval<int>)(), (std::declval<char>)())) f<int, char>(int, char, int "
     "const&, char const&)"},
    {"_Z1fIJicEEvDpSt4pairIT_S1_E",
     "void f<int, char>(std::pair<int, int>, std::pair<char, char>)"},
    {"_Z3cstIiEDTscT_fp_ES0_", "decltype (static_cast<int>({parm#1})) cst<int>(int)"},
    {"_Z1fIiEDTcvT_fp_ES0_", "decltype ((int){parm#1}) f<int>(int)"},
    {"_Z1fIiEDTcvT__fp_fp_EES0_", "decltype ((int)({parm#1}, {parm#1})) f<int>(int)"},
    {"_Z4ternIiEDTqufp_fp_Li1EET_", "decltype ({parm#1}?{parm#1} : (1)) tern<int>(int)"},
    {"_Z6bracesIiEDtdttl1Sfp_E1mET_", "decltype (S{{parm#1}}.m) braces<int>(int)"},
    {"_Z1fIiEDTilfp_Li1EEET_", "decltype ({{parm#1}, 1}) f<int>(int)"},
    {"_Z5fold2IJiiEEDTfrplfp_EDpT_", "decltype (({parm#1}+...)) fold2<int, int>(int, int)"},
    {"_Z1fIJiiEEDTflplfp_EDpT_", "decltype ((...+{parm#1})) f<int, int>(int, int)"},
    {"_Z1fIJiiEEDTfLplfp_Li0EEDpT_", "decltype (({parm#1}+...+(0))) f<int, int>(int, int)"},
    {"_Z1fIJLi1ELi2EEE1AIXfraaT_EEv", "A<((1, 2)&&...)> f<1, 2>()"},
    {"_Z1fIJLi1ELi2EEE1AIXsZT_EEv", "A<2> f<1, 2>()"},
    {"_Z2nwIiEDTnw_T_pifp_EES0_", "decltype (new int({parm#1})) nw<int>(int)"},
    {"_Z1fIiEDTnwfp__T_pifp_EES0_", "decltype (new ({parm#1}) int({parm#1})) f<int>(int)"},
    {"_Z1fIiEDTgsnw_T_EES0_", "decltype (::new int) f<int>(int)"},
    {"_Z2gsIiEDTclgs2enfp_EET_", "decltype ((::en)({parm#1})) gs<int>(int)"},
    {"_Z3idxIPiEDTixfp_Li0EET_", "decltype ({parm#1}[0]) idx<int*>(int*)"},
    {"_Z1fIiE1AIXgtT_Li1EEES0_", "A<((int)>(1))> f<int>(A)"},
    {"_Z1fIiEDTdtfp_sr1AE1bET_", "decltype ({parm#1}.A::b) f<int>(int)"},
    {"_Z1fIiEDTdtfp_onplET_", "decltype ({parm#1}.(operator+)) f<int>(int)"},
    {"_Z1fIiEDTdafp_ET_", "decltype (delete[] {parm#1}) f<int>(int)"},
    {"_Z1fIiEDTtrET_", "decltype (throw) f<int>(int)"},
    {"_Z2avIXadL_Z4globEEEiv", "int av<&glob>()"},
    {"_Z2avIXadL_ZN1S1fEiEEEiv", "int av<&S::f>()"},
    {"_ZTAXtl1PLi3EEE", "template parameter object for P{3}"},
    {"_Z3vecDv4_fS_", "vec(float __vector(4), float __vector(4))"},
    {"_Z1fDv_Li3E_c", "f(char __vector(3))"},
    {"_Z1fDF16_DF32_DF64x", "f(_Float16, _Float32, _Float64x)"},
    {"_ZNK1ScvT_IlEEv", "S::operator long<long>() const"},
    {"_ZNK1AcvT_I1BIlEEEv", "A::operator B<long><B<long> >() const"},
    {"_ZN1AC2IiEET_", "A::A<int>(int)"},
    {"_Z2nxIiESt17integral_constantIbXnxplfp_Li1EEET_",
     "std::integral_constant<bool, noexcept ({parm#1}+(1))> nx<int>(int)"},
    {"_Z1fIiEDTtiT_ES0_", "decltype (typeid (int)) f<int>(int)"},
    {"_Z1fIiEDTfL0p_ET_", "decltype ({parm#1}) f<int>(int)"},
    {"_Z1fIiEDTmifp_ET_", NULL},
    {"_Z1fIiEDTcl1gfp_T_", NULL},
    {"_Z1fIiEDTfrET_", NULL},
    {"_ZZ1fIiEvvENKUlT_E_clIcEEDaS1_",
     "auto f<int>()::{lambda(auto:1)#1}::operator()<char>({lambda(auto:1)#1}) const"},
    {"_ZZ1fIiEvT_ENKUlvE_clEv", "f<int>(int)::{lambda()#1}::operator()() const"},
    {"_Z2mpM1SiMS_FiiEMS_KFiiRE", "mp(int S::*, int (S::*)(int), int (S::*)(int) const &)"},
    {"_Z1fM1AKFvvES_S1_", "f(void (A::*)() const, A, void (A::*)() const)"},
    {"_Z1fPDoFviES0_", "f(void (*)(int) noexcept, void (*)(int) noexcept)"},
    {"_Z1fPDwicEFviE", "f(void (*)(int) throw(int, char))"},
    {"_Z1fPDxFvvE", "f(void (*)() transaction_safe)"},
    {"_ZGTt1fv", "transaction clone for f()"},
    {"_ZGTn1fv", "non-transaction clone for f()"},
    {"_Z1fIiZ1gIJcdEEvDpT_E1AEvT_T0_",
     "void f<int, g<char, double>(char, double)::A>(int, g<char, double>(char, double)::A)"},
    {"_Z1fIJiZ1gIJcdEEvDpT_E1AEEvDpT_",
     "void f<int, g<char, double>(char, double)::A>(int, g<char, double>(char, double)::A)"},
    {"_Z1fI1AZ1gI1BEvT_EUlvE_EvOS2_", "void f<A, g<B>(B)::{lambda()#1}>(B&&)"},
    {"_ZTC1D0_1B", "construction vtable for B-in-D"},
    {"_ZTIN1A1bMUlmE_E", "typeinfo for A::b::{lambda(unsigned long)#1}"},
    {"_Z1fM1SKDoFviOE", "f(void (S::*)(int) const && noexcept)"},
    {"_ZGT1fv", NULL},
    {"_ZTC1D_1B", NULL},
    {"_ZN12_GLOBAL__N_14workEv.cold", "(anonymous namespace)::work() [clone .cold]"},
    {"_ZN1S3getB5cxx11Ev", "S::get[abi:cxx11]()"},
    {"_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE", "core::fmt::Formatter::write_str"},
    {"_ZN60_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..Drop$GT$4drop17h0123456789abcdefE",
     "<alloc::vec::Vec<T> as core::ops::Drop>::drop"},
    {"_RNvC6_123foo3bar", "123foo::bar"},
    {"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
    {"_RNCNvC4test3run0B3_", "test::run::{closure#0}"},
    {"_RNCNvC4test3runs_0", "test::run::{closure#1}"},
    {"_RINvC4test3maxhE", "test::max::<u8>"},
    {"_RNvMC4testNtB2_5Point3new", "<test::Point>::new"},
    {"_RNvXC4testNtB2_5PointNtB2_4Show4show", "<test::Point as test::Show>::show"},
    {"_RINvC4test1fRShTjbEFmEuE", "test::f::<&[u8], (usize, bool), fn(u32)>"},
    {"_RINvC4test1fKj20_E", "test::f::<32>"},
    {"_RNKNvC4test3run0", "test::run::{K#0}"},
    {"_RNKNvC4test3run1a", "test::run::{K:a#0}"},
    {"_RNvXsi_CsgrhdD9RSWEv_4featINtB5_1WKn7fffffffffffffffffffffffffffffff_ENtB5_2Tr2go",
     "<feat::W<0x7fffffffffffffffffffffffffffffff> as feat::Tr>::go"},
    {"_RINvC4test1fKo10000000000000000_E", "test::f::<0x10000000000000000>"},
    {"_RINvC4test1fKoffffffffffffffff_E", "test::f::<18446744073709551615>"},
    {"_RINvC4test1fKan80_E", "test::f::<-128>"},
    {"_RINvC4test1fKca_E", "test::f::<'\\n'>"},
    {"_RINvC4test1fKc27_E", "test::f::<'\\''>"},
    {"_RINvC4test1fKc22_E", "test::f::<'\"'>"},
    {"_RINvC4test1fKc5c_E", "test::f::<'\\\\'>"},
    {"_RINvC4test1fKce9_E", "test::f::<'\\u{e9}'>"},
    {"_RINvC4test1fKRe61626322c3a9_E", "test::f::<\"abc\\\"\\u{e9}\">"},
    {"_RINvC4test1fKe616263_E", "test::f::<{*\"abc\"}>"},
    {"_RINvC4test1fKRRe61_E", "test::f::<{&\"a\"}>"},
    {"_RINvC4test1fKQAb1_b0_EE", "test::f::<{&mut [true, false]}>"},
    {"_RINvC4test1fKRTj1_EE", "test::f::<{&(1,)}>"},
    {"_RNvXss_CsgrhdD9RSWEv_4featINtB5_2PPKVNtB5_1PS1aln3_1bb1_EENtB5_2Tr2go",
     "<feat::PP<{feat::P { a: -3, b: true }}> as feat::Tr>::go"},
    {"_RNvXst_CsgrhdD9RSWEv_4featINtB5_2EEKVNtNtB5_1E1BTh7_EENtB5_2Tr2go",
     "<feat::EE<{feat::E::B(7)}> as feat::Tr>::go"},
    {"_RNvXsu_CsgrhdD9RSWEv_4featINtB5_2EEKVNtNtB5_1E1AUENtB5_2Tr2go",
     "<feat::EE<{feat::E::A}> as feat::Tr>::go"},
    {"_RNvXsv_CsgrhdD9RSWEv_4featINtB5_1TKTh3_c78_EENtB5_2Tr2go",
     "<feat::T<{(3, 'x')}> as feat::Tr>::go"},
    {"_RNvXsw_CsgrhdD9RSWEv_4featINtB5_2ARKAh1_h2_h3_EENtB5_2Tr2go",
     "<feat::AR<{[1, 2, 3]}> as feat::Tr>::go"},
    {"_RNvXs2_CsgrhdD9RSWEv_4featFG_K13system_unwindRL0_hERL0_hNtB5_2Tr2go",
     "<for<'a> extern \"system-unwind\" fn(&'a u8) -> &'a u8 as feat::Tr>::go"},
    {"_RINvC4test1fKReff_E", NULL},
    {"_RINvC4test1fKRe6_E", NULL},
    {"_RINvC4test1fKc110000_E", NULL},
    {"_RINvC4test1fKb2_E", NULL},
    /* hashes of crates use all of 64 bits; the largest that has a name is two less than 2^64 */
    {"_RNvNtCslNYArtu3iFV_5alloc7raw_vec12handle_error", "alloc::raw_vec::handle_error"},
    {"_RNvCslYGhA16ahyd_1a1b", "a::b"},
    {"_RNvCslYGhA16ahye_1a1b", NULL},
    {"_RNvCslYGhA16ahyf_1a1b", NULL},
    {"_RNvCslYGhA16ahyg_1a1b", NULL},
    {"printf", NULL},
    {"_Z", NULL},
    {"_ZN", NULL},
    {"_R", NULL},
    {"_ZN1", NULL},
    {"_Z3fo", NULL},
    {"_Z1fT_", NULL},
};

static void test_demangling(void **state)
{
    (void)state;
    char text[512], small[8];
    for (size_t i = 0; i < sizeof(demangled) / sizeof(demangled[0]); i++) {
        const size_t length = pug_demangle(demangled[i].mangled, text, sizeof(text));
        if (!demangled[i].readable) {
            assert_int_equal(length, 0);
            continue;
        }
        assert_string_equal(length > 0 ? text : demangled[i].mangled, demangled[i].readable);
        assert_int_equal(length, strlen(demangled[i].readable));
        /* what does not fit is cut, and measured all the same */
        assert_int_equal(pug_demangle(demangled[i].mangled, small, sizeof(small)), length);
        assert_true(strlen(small) < sizeof(small));
    }
    struct pug_names *names = pug_names_new(NULL);
    const char *readable = pug_names_readable(names, "_Z3fibj");
    assert_string_equal(readable, "fib(unsigned int)");
    char again[] = "_Z3fibj";
    assert_ptr_equal(pug_names_readable(names, again), readable);
    assert_string_equal(pug_names_readable(names, "main"), "main");
    assert_null(pug_names_readable(names, NULL));
    pug_names_free(names);
}

/* Names cut anywhere, and with each byte another: never a fault, and never without end. */
static void test_demangling_damage(void **state)
{
    (void)state;
    char name[256], text[4096];
    for (size_t i = 0; i < sizeof(demangled) / sizeof(demangled[0]); i++) {
        const size_t length = strlen(demangled[i].mangled);
        for (size_t at = 0; at < length; at++) {
            memcpy(name, demangled[i].mangled, length + 1);
            name[at] = '\0';
            pug_demangle(name, text, sizeof(text));
            static const char bytes[] = "_0ENSTIJBDpRFKLX9sflcv";
            for (size_t b = 0; b < sizeof(bytes) - 1; b++) {
                memcpy(name, demangled[i].mangled, length + 1);
                name[at] = bytes[b];
                pug_demangle(name, text, sizeof(text));
            }
        }
    }
    char deep[5000] = "_Z1f";
    memset(deep + 4, 'P', sizeof(deep) - 5);
    deep[sizeof(deep) - 1] = '\0';
    assert_int_equal(pug_demangle(deep, text, sizeof(text)), 0);
    /* expressions in each other, packs of packs, and operators whose target type follows them
     */
    static const struct {
        const char *begin, *repeated;
    } nested[] = {{"_Z1fIiEDT", "nt"},
                  {"_Z1fIiEDT", "plfp_"},
                  {"_Z1fIJiiiiiiiiEEv", "Dp"},
                  {"_Z1fIJiiiiiiiiEEv", "Dp1AIT_"},
                  {"_Z1fIJLi1ELi2EEE1AIJX", "sp"},
                  {"_ZNK1A", "cvT_INK1A"},
                  {"_Z1f", "Dv_"}};
    for (size_t i = 0; i < sizeof(nested) / sizeof(nested[0]); i++) {
        size_t end = (size_t)snprintf(deep, sizeof(deep), "%s", nested[i].begin);
        while (end < sizeof(deep) - 16)
            end += (size_t)snprintf(deep + end, sizeof(deep) - end, "%s", nested[i].repeated);
        assert_int_equal(pug_demangle(deep, text, sizeof(text)), 0);
    }
    deep[0] = '_';
    memset(deep + 2, 'A', sizeof(deep) - 3);
    assert_int_equal(pug_demangle(deep, text, sizeof(text)), 0);
    memcpy(deep, "_RINvC1a1fK", strlen("_RINvC1a1fK"));
    deep[1] = 'R';
    assert_int_equal(pug_demangle(deep, text, sizeof(text)), 0);
}

#define NAME 2048u

/** Names whose every part says twice what was before it. */
static void grow(char cpp[NAME], char rust[NAME], size_t parts)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t at = (size_t)snprintf(cpp, NAME, "_Z1f1PIiiE");
    size_t end = (size_t)snprintf(rust, NAME, "_RINvC1a1fTmmE");
    for (size_t n = 0, last = strlen("INvC1a1f"); n < parts; n++) {
        const char digit = (char)(n % 36 < 10 ? '0' + n % 36 : 'A' + n % 36 - 10);
        const char part[] = {n < 36 ? digit : digits[n / 36 - 1], n < 36 ? '\0' : digit, '\0'};
        at += (size_t)snprintf(cpp + at, NAME - at, "S_IS%s_S%s_E", part, part);
        const char back[] = {'B', digits[(last - 1) / 62], digits[(last - 1) % 62], '_', '\0'};
        last = end - 2;
        end += (size_t)snprintf(rust + end, NAME - end, "T%s%sE", back, back);
    }
    snprintf(rust + end, NAME - end, "E");
}

/* A few hundred bytes that stand for 2^60 words: work has an end. */
static void test_demangling_that_grows(void **state)
{
    char cpp[NAME], rust[NAME], text[4096];
    (void)state;
    grow(cpp, rust, 1);
    assert_true(pug_demangle(cpp, text, sizeof(text)) > 0);
    assert_string_equal(text, "f(P<int, int>, P<P<int, int>, P<int, int> >)");
    assert_true(pug_demangle(rust, text, sizeof(text)) > 0);
    assert_string_equal(text, "a::f::<(u32, u32), ((u32, u32), (u32, u32))>");
    grow(cpp, rust, 60);
    assert_int_equal(pug_demangle(cpp, text, sizeof(text)), 0);
    assert_int_equal(pug_demangle(rust, text, sizeof(text)), 0);
}

#define NAMES                                                                                      \
    "nm -D $(c++ -print-file-name=libstdc++.so) | awk '{print $NF}' | sed 's/@.*//' | "            \
    "grep ^_ZN | grep -v 'S[sbiod]' | sort -u"

/* The names of a real library as c++filt writes them, except for blanks. */
static void test_demangling_of_a_library(void **state)
{
    (void)state;
    if (system("{ c++filt --version && nm --version && c++ --version; } >/dev/null 2>&1") != 0)
        skip();
    char line[16384], wanted[16384], got[16384];
    size_t same = 0, all = 0;
    FILE *mangled = popen(NAMES, "r"), *filtered = popen(NAMES " | c++filt", "r");
    assert_true(mangled && filtered);
    while (fgets(line, sizeof(line), mangled) && fgets(wanted, sizeof(wanted), filtered)) {
        line[strcspn(line, "\n")] = wanted[strcspn(wanted, "\n")] = '\0';
        if (pug_demangle(line, got, sizeof(got)) == 0)
            snprintf(got, sizeof(got), "%s", line);
        size_t a = 0, b = 0;
        for (;; a++, b++) {
            while (wanted[a] == ' ')
                a++;
            while (got[b] == ' ')
                b++;
            if (wanted[a] != got[b] || !wanted[a])
                break;
        }
        same += wanted[a] == got[b];
        all++;
    }
    pclose(mangled);
    pclose(filtered);
    assert_true(all > 1000);
    print_message("%zu of %zu names as c++filt has them\n", same, all);
    assert_true(same * 100 >= all * 97);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_demangling),
        cmocka_unit_test(test_demangling_damage),
        cmocka_unit_test(test_demangling_that_grows),
        cmocka_unit_test(test_demangling_of_a_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
