import { count, ms } from './figures.js'
import { number } from './option-kinds.js'
import { readOptions } from './options.js'
import { measureQuorum } from './quorum.js'
import { quorumTable } from './quorum-table.js'
import { publish } from './results-file.js'

/** `npm run bench:signing`: what two keys cost, alone. */
const run = readOptions({
  command: 'npm run bench:signing',
  measures: 'signing by both keys in their processes, beside bare native secp256k1 on one core',
  takes: 'about 10 s, and --seconds for each of three loads',
  disk: 'about 10 MB',
  results: 'signing.json',
  runsOn: 'linux',
  options: {
    seconds: number('how long each load', { steps: 'any', min: 0.5, max: 3_600, byDefault: 2 }),
  },
})

const { barePerSecond, keygenMs, loads } = await measureQuorum(run.values.seconds * 1_000)
const ratios = {
  quorum_vs_bare_signing: Math.max(...loads.map(({ perSecond }) => perSecond)) / barePerSecond,
}
publish(
  run,
  { ratios, barePerSecond, keygenMs, loads },
  `bare native secp256k1, one core: ${count(barePerSecond)}/s
key generation and grant: ${ms(keygenMs)} ms per wallet

${quorumTable(loads, barePerSecond)}`,
)
