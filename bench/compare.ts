import { compareRatios } from './compare-ratios.js'
import { readResults } from './results-file.js'

/** `npm run bench:compare A B`: how the ratios of two results files differ. */
const [before, after] = process.argv.slice(2)
if (before === undefined || after === undefined) {
  console.error('usage: npm run bench:compare <before.json> <after.json>')
  process.exit(2)
}
try {
  console.log(compareRatios(readResults(before), readResults(after)))
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(1)
}
