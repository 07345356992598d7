import { addresses, commandOn, quoted, whatIsThere } from '../banner.js'
import { ENGINE_WORDS } from './journal-engine.js'
import type { ClusterFile } from './start-cluster.js'

/** What a newcomer reads once a cluster runs: its nodes, how to end one, and commands to paste. */
export function clusterBanner(dev: ClusterFile, home: string): string {
  const owner = dev.nodes.find(({ answers }) => answers)
  const lines = dev.nodes.map(({ base_url: url, service, answers }, index) => {
    const state = answers ? 'owns the journal and answers' : 'a standby'
    return `    node ${index + 1}      ${url}   pid ${service}   ${state}\n`
  })
  const status = `COUNTERSIGN_JOURNAL_FILE=${quoted(dev.journal_file)} ${commandOn(home)} cluster status`
  return `
  Countersign runs as a cluster of ${dev.nodes.length} nodes; one of them answers at a time

${lines.join('')}
    who owns the journal now:
    ${status}

    kill -9 ${owner?.service}: another node answers within some seconds at its URL; what was killed comes
    back as a standby. A standby answers /healthz (200) and /readyz (503) alone: what stands in front of
    the nodes sends callers to the one whose /readyz is 200. OPERATIONS.md has samples.

    journal     ${ENGINE_WORDS[dev.journal]}
${addresses(dev)}${whatIsThere(dev, home)}
  Ctrl-C stops everything; npm run cluster brings it back as it was.
`
}
