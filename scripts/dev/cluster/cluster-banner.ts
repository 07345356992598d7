import { addresses, commandOn, quoted, whatIsThere } from '../banner.js'
import { ENGINE_WORDS } from './journal-engine.js'
import type { ClusterFile } from './start-cluster.js'

const WITH_LINKS = `Ask whichever you like: what the owner had begun on ends as OUTCOME_UNKNOWN,
    and is found by its Idempotency-Key. /readyz says who waits (\`node\`).`
const WITHOUT_LINKS = `A standby answers /healthz (200) and /readyz (503) alone: what stands in front of
    the nodes sends callers to the one whose /readyz is 200. scripts/systemd has samples.`

/**
 * The text for a newcomer once a cluster runs: its nodes, how to stop one, and commands to paste.
 */
export function clusterBanner(dev: ClusterFile, home: string): string {
  const leader = dev.nodes.find(({ owns_journal }) => owns_journal)
  const isLinked = dev.nodes.every(({ answers }) => answers)
  const cellCount = new Set(dev.nodes.map(({ cell }) => cell)).size
  const isDealtOut = cellCount > 1
  const waits = isLinked ? 'a standby, which passes on to it' : 'a standby'
  const lines = dev.nodes.map(({ base_url: url, cell, service, owns_journal: owns }, index) => {
    const role = owns ? 'owns the journal' : waits
    const state = isDealtOut ? `cell ${cell}: ${role}` : role
    return `    node ${index + 1}      ${url}   pid ${service}   ${state}\n`
  })
  const status = `COUNTERSIGN_JOURNAL_FILE=${quoted(dev.journal_file)} ${commandOn(home)} cluster status`
  return `
  Countersign runs as a cluster of ${dev.nodes.length} nodes; ${isLinked ? 'each of them answers' : 'one of them answers at a time'}${isDealtOut ? `,\n  and passes on what is of the users of another cell: there are ${cellCount}` : ''}

${lines.join('')}
    who owns the journal now:
    ${status}

    kill -9 ${leader?.service}: another node owns the journal within some seconds, and what was killed comes
    back as a standby. ${isLinked ? WITH_LINKS : WITHOUT_LINKS}

${identityLines(dev, home)}
    journal     ${ENGINE_WORDS[dev.journal]}
${addresses(dev)}${whatIsThere(dev, home)}
  Ctrl-C stops everything; npm run cluster brings it back as it was.
`
}

function identityLines({ identity_standby: standby, pids }: ClusterFile, home: string): string {
  if (standby === null) return ''
  const status = `IDENTITY_JOURNAL_FILE=${quoted(standby.journal_file)} ${commandOn(home)} cluster status --domain user`
  return `    kill -9 ${pids.identity_provider}: the identity provider's standby (pid ${standby.pid}) goes on likewise.
    ${status}
`
}
