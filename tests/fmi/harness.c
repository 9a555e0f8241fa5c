/* Steps of an FMU of FMI 3.0 by Co-Simulation: harness LIBRARY TOKEN STEP COUNT VALUES.

   Prints the CPU time of the steps [s], then the first values after the time in 17 digits. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef _WIN32
#include <windows.h>
#define OPEN(path) ((void *)LoadLibraryA(path))
#define FIND(library, name) ((void *)GetProcAddress((HMODULE)library, name))
#else
#include <dlfcn.h>
#define OPEN(path) dlopen(path, RTLD_NOW)
#define FIND(library, name) dlsym(library, name)
#endif

typedef void *(*create_t)(const char *, const char *, const char *, bool, bool, bool, bool,
                          const uint32_t *, size_t, void *, void *, void *);
typedef int (*enter_t)(void *, bool, double, double, bool, double);
typedef int (*plain_t)(void *);
typedef int (*step_t)(void *, double, double, bool, bool *, bool *, bool *, double *);
typedef int (*get_t)(void *, const uint32_t *, size_t, double *, size_t);

static void report(void *environment, int status, const char *category, const char *message) {
  (void)environment;
  printf("%d %s %s\n", status, category, message);
}

int main(int count, char **words) {
  if (count != 6) return 2;
  void *library = OPEN(words[1]);
  if (library == NULL) return 3;
  void *fmu = ((create_t)FIND(library, "fmi3InstantiateCoSimulation"))(
      "one", words[2], "", false, false, false, false, NULL, 0, NULL, (void *)report, NULL);
  if (fmu == NULL) return 4;
  int bad = ((enter_t)FIND(library, "fmi3EnterInitializationMode"))(fmu, false, 0, 0, false, 0);
  bad |= ((plain_t)FIND(library, "fmi3ExitInitializationMode"))(fmu);
  step_t step = (step_t)FIND(library, "fmi3DoStep");
  double h = atof(words[3]), last;
  long steps = atol(words[4]);
  bool event, end, early;
  clock_t begin = clock();
  for (long k = 0; k < steps && !bad; k++)
    bad |= step(fmu, (double)k * h, h, true, &event, &end, &early, &last);
  printf("%.9g\n", (double)(clock() - begin) / CLOCKS_PER_SEC);
  get_t get = (get_t)FIND(library, "fmi3GetFloat64");
  for (uint32_t k = 1; k <= (uint32_t)atol(words[5]) && !bad; k++) {
    double value;
    bad |= get(fmu, &k, 1, &value, 1);
    printf("%.17g\n", value);
  }
  ((void (*)(void *))FIND(library, "fmi3FreeInstance"))(fmu);
  return bad;
}
