/**
 * Whether the curves are the real ones or stand-ins that keep what a protocol needs of a curve and
 * nobody's secret. The worlds of a thread run one after another, and each says which it has.
 */
let areReal = true

export function chooseCurves(real: boolean): void {
  areReal = real
}

export function areCurvesReal(): boolean {
  return areReal
}

/** What all worlds of a thread share was signed once, by real keys. */
export function withRealCurves<T>(work: () => T): T {
  const before = areReal
  areReal = true
  try {
    return work()
  } finally {
    areReal = before
  }
}
