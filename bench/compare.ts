import { comparison, comparisonText, differsIn } from './compare-ratios.js'
import { readOptions, refuse } from './options.js'
import { type ResultsFile, readResults } from './results-file.js'

/** `npm run bench:compare -- A B`: how the ratios of two results files differ. */
const { files, output } = readOptions({
  command: 'npm run bench:compare',
  measures: 'nothing: shows how the ratios of two results files differ',
  takes: 'no time',
  disk: 'none',
  results: null,
  runsOn: 'any',
  options: {},
  files: ['before.json', 'after.json'],
})

const [before, after] = files.map(read)
if (before === undefined || after === undefined) throw new Error('two files were asked for')
if (before.bench !== after.bench) {
  refuse(`these cannot be compared: one is of ${before.bench}, the other of ${after.bench}`)
}
if (output === 'json') {
  console.log(JSON.stringify(comparison(before, after), null, 2))
} else {
  for (const line of differsIn(before, after)) console.log(line)
  console.log(comparisonText(before, after))
}

function read(path: string): ResultsFile {
  try {
    return readResults(path)
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}
