import { comparison, comparisonText, differsIn } from './compare-ratios.js'
import { readOptions, refuse } from './options.js'
import { BENCH_COMMAND } from './programs.js'
import { type ResultsFile, readResults } from './results-file.js'

/** `npm run bench -- compare A B`: how the ratios of two results files differ. */
const { files, output } = readOptions({
  name: 'compare',
  takes: 'no time',
  disk: 'none',
  results: null,
  runsOn: 'any',
  options: {},
  files: ['before.json', 'after.json'],
})

const [before, after] = files.map(read)
if (before === undefined || after === undefined) throw new Error('two files were asked for')
if (benchOf(before) !== benchOf(after)) {
  refuse(`these cannot be compared: one is of ${benchOf(before)}, the other of ${benchOf(after)}`)
}
if (output === 'json') {
  console.log(JSON.stringify(comparison(before, after), null, 2))
} else {
  for (const line of differsIn(before, after)) console.log(line)
  console.log(comparisonText(before, after))
}

/** Older files name `npm run bench:write`, and `npm run bench` for `run`. */
function benchOf({ bench }: ResultsFile): string {
  return bench === 'npm run bench'
    ? `${BENCH_COMMAND} run`
    : bench.replace('npm run bench:', `${BENCH_COMMAND} `)
}

function read(path: string): ResultsFile {
  try {
    return readResults(path)
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}
