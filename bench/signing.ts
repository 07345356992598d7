import { ms } from './figures.js'
import { number } from './option-kinds.js'
import { readOptions } from './options.js'
import { openQuorum, QUORUM_LOADS, type Quorum, type QuorumLoad } from './quorum.js'
import { quorumTable } from './quorum-table.js'
import { publish } from './results-file.js'

/** `npm run bench -- signing`: the cost of two keys by themselves. */
const run = readOptions({
  name: 'signing',
  takes: 'about 20 s, and --seconds for each of three loads',
  disk: 'about 10 MB',
  results: 'signing.json',
  runsOn: 'linux',
  options: {
    seconds: number('how long each load', { steps: 'any', min: 0.5, max: 3_600, byDefault: 5 }),
  },
})

const WARM_UP_MS = 5_000

const quorum = await openQuorum(WARM_UP_MS)
const loads = await measured(quorum)
const ratios = {
  quorum_vs_bare_signing: Math.max(...loads.map(({ vsBare }) => vsBare)),
}
publish(
  run,
  { ratios, keygenMs: quorum.keygenMs, loads },
  `key generation and grant: ${ms(quorum.keygenMs)} ms per wallet

${quorumTable(loads)}`,
)

async function measured(opened: Quorum): Promise<QuorumLoad[]> {
  try {
    const each: QuorumLoad[] = []
    for (const load of QUORUM_LOADS) {
      each.push(await opened.measure(load, run.values.seconds * 1_000))
    }
    return each
  } finally {
    await opened.close()
  }
}
