/**
 * The last lines of a run: each test that did not pass, what no test caught, and one line that
 * counts. Whoever sees only the end of a log sees what to mend.
 *
 *   node .ci/report.mjs FOLDER    with NAME.json, vitest's report, and NAME.log of each suite
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const LINES_OF_A_FAILURE = 12
const LINE_MAX = 2_000
const LINES_OF_UNCAUGHT = 60
const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g')

const folder = process.argv[2] ?? '.'
let passed = 0
let failed = 0
for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
  const report = JSON.parse(readFileSync(join(folder, file), 'utf8'))
  passed += report.numPassedTests ?? 0
  failed += report.numFailedTests ?? 1
  for (const { name, status, message, assertionResults } of report.testResults ?? []) {
    const path = relative('.', name)
    // A file that does not load fails without counting a test of its own.
    if (status === 'failed' && assertionResults.length === 0) {
      failed += 1
      tell(`${path} did not load`, message)
    }
    for (const test of assertionResults) {
      if (test.status === 'failed') tell(`${path}: ${test.fullName}`, ...test.failureMessages)
      // A test that ended has another word; a worker that dies leaves this one.
      if (test.status === 'pending') {
        failed += 1
        tell(`${path}: ${test.fullName}`, 'never ended')
      }
    }
  }
  tellUncaught(join(folder, file.replace(/json$/, 'log')))
}
console.log(`${passed} passed, ${failed} failed`)

/** @param {string} what @param {string[]} why */
function tell(what, ...why) {
  const lines = why.join('\n').split('\n').slice(0, LINES_OF_A_FAILURE)
  console.log(
    [`did not pass: ${what}`, ...lines.map((line) => `  ${line.slice(0, LINE_MAX)}`)].join('\n'),
  )
}

/** Errors outside tests, and workers that ended: vitest prints them, and leaves them out of its report. @param {string} log */
function tellUncaught(log) {
  if (!existsSync(log)) return
  const lines = readFileSync(log, 'utf8').replace(COLOURS, '').split('\n')
  const start = lines.findIndex((line) => /Unhandled (Error|Rejection)|\[vitest-pool/.test(line))
  if (start >= 0) console.log(lines.slice(start, start + LINES_OF_UNCAUGHT).join('\n'))
}
