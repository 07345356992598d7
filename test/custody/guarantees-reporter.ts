import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node'

/** The adversarial cases that custody has to withstand; tests carry their number in the title. */
const CASES = 28
const NUMBERED = /^(\d+): /

/** Prints how many of the numbered cases hold: all tests of a case ran, and passed. */
export default class GuaranteesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const states = new Map<number, boolean>()
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const number = caseOf(test)
        if (number === null) continue
        const passed = test.result().state === 'passed'
        states.set(number, passed && (states.get(number) ?? true))
      }
    }
    const numbers = Array.from({ length: CASES }, (_, index) => index + 1)
    const open = numbers.filter((number) => states.get(number) !== true)
    process.stdout.write(`\ncustody: ${CASES - open.length}/${CASES}\n`)
    if (open.length > 0) {
      process.stdout.write(`failed or not run: ${open.join(', ')}\n`)
      process.exitCode = 1
    }
  }
}

/** The number in a test's own title, or in that of a suite around it. */
function caseOf(test: TestCase): number | null {
  let at: TestCase | TestSuite | TestModule = test
  while (at.type !== 'module') {
    const match = NUMBERED.exec(at.name)
    if (match !== null) return Number(match[1])
    at = at.parent
  }
  return null
}
