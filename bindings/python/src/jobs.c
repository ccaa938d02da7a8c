// SPDX-License-Identifier: MIT
/** @file Threads that work while Python waits, and looks for signals. */
#include "binding.h"

#include <time.h>

/* Longest wait between two checks for signals. */
#define SLICE_NANOSECONDS 20000000L
/* So long an interrupted wait goes on, for work that sees soon that it is to stop. */
#define SLICES_AFTER_STOP 2

void wait_slice(pthread_cond_t *changed, pthread_mutex_t *lock)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += SLICE_NANOSECONDS;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    pthread_cond_timedwait(changed, lock, &until);
}

struct job {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*run)(void *argument, atomic_bool *stop);
    void (*end)(void *argument);
    void *argument;
    atomic_bool stop;
    bool done, abandoned;
};

static void job_free(struct job *job)
{
    pthread_mutex_destroy(&job->lock);
    pthread_cond_destroy(&job->changed);
    free(job);
}

static void *job_thread(void *argument)
{
    struct job *job = argument;
    job->run(job->argument, &job->stop);
    pthread_mutex_lock(&job->lock);
    job->done = true;
    const bool abandoned = job->abandoned;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->lock);
    if (abandoned) {
        job->end(job->argument);
        job_free(job);
    }
    return NULL;
}

/** Wait a slice, or several after a signal; is the job done? */
static bool job_wait(struct job *job, int slices)
{
    bool done;
    PyThreadState *const python = PyEval_SaveThread();
    pthread_mutex_lock(&job->lock);
    for (int i = 0; i < slices && !job->done; i++)
        wait_slice(&job->changed, &job->lock);
    done = job->done;
    pthread_mutex_unlock(&job->lock);
    PyEval_RestoreThread(python);
    return done;
}

/** Leave a job alone that has not ended; false: it has ended meanwhile. */
static bool job_abandon(struct job *job)
{
    pthread_mutex_lock(&job->lock);
    const bool done = job->done;
    job->abandoned = !done;
    pthread_mutex_unlock(&job->lock);
    return !done;
}

bool job_run(void (*run)(void *argument, atomic_bool *stop), void *argument,
             void (*end)(void *argument))
{
    struct job *job = calloc(1, sizeof(*job));
    pthread_t thread;
    if (!job) {
        end(argument);
        PyErr_NoMemory();
        return false;
    }
    *job = (struct job){.run = run, .end = end, .argument = argument};
    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->changed, NULL);
    if (pthread_create(&thread, NULL, job_thread, job) != 0) {
        job_free(job);
        end(argument);
        PyErr_SetString(PyExc_RuntimeError, "cannot start a thread");
        return false;
    }
    pthread_detach(thread);
    bool interrupted = false;
    while (!job_wait(job, interrupted ? SLICES_AFTER_STOP : 1)) {
        if (interrupted && job_abandon(job))
            return false;
        if (!interrupted && PyErr_CheckSignals() != 0) {
            interrupted = true;
            atomic_store(&job->stop, true);
        }
    }
    pthread_mutex_lock(&job->lock); /* the thread has let go of it */
    pthread_mutex_unlock(&job->lock);
    job_free(job);
    if (interrupted)
        end(argument);
    return !interrupted;
}
