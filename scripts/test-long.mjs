/**
 * `npm run test:long -- NAME`: becomes the command of a suite of `suites.mjs`, in this process.
 * What follows the name goes to vitest, as does everything after another `--`.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { commandOf, SUITES } from './suites.mjs'
import { ROOT } from './toolchain/console.mjs'

const COMMAND = 'npm run test:long --'
const HELP = `${COMMAND} NAME [--short] [-- vitest arguments]
${COMMAND} NAME --help    the command of a suite
${COMMAND} --list         this list; as JSON by --json

Variables of the environment come before the defaults of a suite.
`
/** Exit code of a call with bad arguments, as in shells and getopt(3). */
const EXIT_USAGE = 2
/** More edits than these are another word, not a mistake in typing it. */
const EDITS_MAX = 3

const given = process.argv.slice(2)
const separator = given.includes('--') ? given.indexOf('--') : given.length
const [first, ...following] = given.slice(0, separator)
const afterSeparator = given.slice(separator + 1)

if (first === undefined) refuse(`name a suite\n\n${helpText()}`)
else if (first === '--help' || first === '--list') process.stdout.write(helpText())
else if (first === '--json') process.stdout.write(`${JSON.stringify(SUITES, null, 2)}\n`)
else if (first.startsWith('-')) refuse(`the name of a suite comes before ${first}`)
else await runSuite(first)

/** @param {string} name */
async function runSuite(name) {
  const suite = SUITES.find((row) => row.name === name)
  if (suite === undefined) return refuse(unknownName(name))
  const form = following.includes('--short') ? 'short' : 'whole'
  if (form === 'short' && suite.short === undefined) return refuse(`${name} has no short form`)
  if (following.includes('--help')) return process.stdout.write(detailsOf(suite))
  const { env, script, args } = commandOf(suite, form, process.env)
  const more = [...following.filter((argument) => argument !== '--short'), ...afterSeparator]
  Object.assign(process.env, env)
  const path = join(ROOT, script)
  process.argv = [process.execPath, path, ...args, ...more]
  await import(pathToFileURL(path).href)
}

/** @param {string} problem */
function refuse(problem) {
  process.stderr.write(`test:long: ${problem}\n`)
  process.exitCode = EXIT_USAGE
}

/** @param {string} name */
function unknownName(name) {
  const near = nearNames(name)
  const which = near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`
  return `there is no suite ${name}${which}\n${COMMAND} --list shows all`
}

/** @param {string} name @returns {string[]} names of few other letters, or else of a common word */
function nearNames(name) {
  const typed = name.toLowerCase().replaceAll(/[:_]/g, '-')
  const names = SUITES.map((suite) => suite.name)
  const edits = (/** @type {string} */ known) => editDistance(typed, known)
  const nearest = Math.min(...names.map(edits))
  if (nearest <= Math.min(EDITS_MAX, Math.floor(typed.length / 2))) {
    return names.filter((known) => edits(known) === nearest)
  }
  const words = typed.split('-')
  return names.filter((known) => known.split('-').some((word) => words.includes(word)))
}

/** Levenshtein distance. @param {string} a @param {string} b */
function editDistance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j] + 1, next[j - 1] + 1))
    }
    row = next
  }
  return row[b.length]
}

function helpText() {
  const rows = SUITES.flatMap((suite) => {
    const { name, does, takes, needs = [], short } = suite
    const row = [name, takes, needs.join(','), does]
    return short === undefined ? [row] : [row, ['  --short', '', '', short.does]]
  })
  return `${HELP}\n${table([['suite', 'takes', 'needs', 'does'], ...rows])}`
}

/** @param {readonly (readonly string[])[]} rows */
function table(rows) {
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column].length)))
  return rows
    .map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}\n`)
    .join('')
}

/** @param {import('./suites.mjs').Suite} suite */
function detailsOf(suite) {
  const { name, does, takes, short } = suite
  const forms = /** @type {const} */ (short === undefined ? ['whole'] : ['whole', 'short'])
  const commands = forms.map((form) => `  ${typed(commandOf(suite, form, process.env))}\n`)
  return `${name}: ${does}\nTakes ${takes}. Runs${short === undefined ? '' : ', and by --short,'}\n${commands.join('')}`
}

/** @param {import('./suites.mjs').SuiteCommand} command */
function typed({ env, script, args }) {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)}`)
  return [...variables, 'node', script, ...args.map(quoted)].join(' ')
}

/** @param {string} text */
function quoted(text) {
  return /^[\w./:=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
