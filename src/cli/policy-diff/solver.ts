/**
 * Z3, a development dependency: production installs omit it. It receives terms as SMT-LIB text, so
 * that no other code depends on its interface.
 */
export interface Solver {
  /** @param text declarations, definitions and assertions; names last until `reset`, whatever is popped */
  assert(text: string): void
  push(): void
  pop(): void
  /** @throws Error when it finds no answer in time */
  isPossible(): Promise<boolean>
  /** Returns the model after `isPossible`, as `define-fun`s; unconstrained names are omitted. */
  model(): string
  /** Forgets everything. */
  reset(): void
  /** Ends its threads, which would keep the process alive. */
  close(): Promise<void>
}

export const SOLVER_PACKAGE = 'z3-solver@5.2.0'

/** The bound for one question; policies of 64 rules take tens of milliseconds. */
const QUESTION_MS_MAX = 20_000

/** @returns null when it is not installed */
export async function openSolver(): Promise<Solver | null> {
  const z3 = await importSolver()
  if (z3 === null) return null
  const { Context, em } = await z3.init()
  const { Solver } = Context('policies')
  const made = () => {
    const one = new Solver()
    one.set('timeout', QUESTION_MS_MAX)
    return one
  }
  let solver = made()
  return {
    // `eval_smtlib2_string` would be shorter, but it reads its text after that has been freed.
    assert: (text) => solver.fromString(text),
    push: () => solver.push(),
    pop: () => solver.pop(),
    async isPossible() {
      const answer = await solver.check()
      if (answer !== 'unknown') return answer === 'sat'
      throw new Error(`the solver found no answer in ${QUESTION_MS_MAX / 1_000} s`)
    },
    model: () => solver.model().sexpr(),
    reset() {
      solver.release()
      solver = made()
    },
    close: () => z3.killThreads(em),
  }
}

async function importSolver() {
  try {
    return await import('z3-solver')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') {
      return null
    }
    throw error
  }
}
