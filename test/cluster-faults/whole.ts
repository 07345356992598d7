import type { Identity, Node } from './world.js'

/** What nodes and identity providers say of themselves: who serves, and whether others have all of it. */
type Part = Readonly<Record<string, unknown>>

const POLL_MS_MAX = 2_000
const GAUGE = /^countersign_journal_(\w+) (\S+)$/gm

async function lookAt(url: string): Promise<Response | null> {
  return fetch(url, { signal: AbortSignal.timeout(POLL_MS_MAX) }).catch(() => null)
}

async function partsOf(node: Node): Promise<{ http: number; parts: Record<string, Part> }> {
  const answer = await lookAt(`${node.url}/readyz`)
  const said = await answer?.json().catch(() => null)
  return { http: answer?.status ?? 0, parts: said?.parts ?? {} }
}

/** The node that serves by its own word; null where none does. */
export async function leaderOf(nodes: readonly Node[]): Promise<Node | null> {
  for (const node of nodes) {
    const { http, parts } = await partsOf(node)
    if (http === 200 && parts.node === undefined && parts.journal?.standby !== true) return node
  }
  return null
}

/** Empty where it does not answer. */
async function gaugesOf({ metricsUrl }: Identity): Promise<Readonly<Record<string, number>>> {
  const text = (await (await lookAt(metricsUrl))?.text().catch(() => '')) ?? ''
  const found = [...text.matchAll(GAUGE)]
  return Object.fromEntries(found.map(([, name, value]) => [name, Number(value)]))
}

export async function identityLeader(identities: readonly Identity[]): Promise<Identity | null> {
  for (const identity of identities) {
    const { epoch = 0 } = await gaugesOf(identity)
    if (epoch > 0) return identity
  }
  return null
}

/** @returns `whole`, or what is missing */
export async function nodesAreWhole(
  nodes: readonly Node[],
  identities: readonly Identity[],
): Promise<string> {
  const leader = await leaderOf(nodes)
  if (leader === null) return 'no node owns the journal'
  for (const node of nodes) {
    if (node === leader) continue
    const { http, parts } = await partsOf(node)
    const { standby, behind, loaded } = parts.node ?? {}
    if (http !== 200 || standby !== true || behind !== 0 || loaded !== true) {
      return `${node.service.name}: ${http} ${JSON.stringify(parts.node ?? parts)}`
    }
  }
  const serving = await identityLeader(identities)
  if (serving === null) return 'no identity provider owns its journal'
  for (const identity of identities) {
    if (identity === serving) continue
    const gauges = await gaugesOf(identity)
    const { epoch, behind, hindered } = gauges
    if (epoch !== 0 || behind !== 0 || hindered !== 0) {
      return `${identity.process.name}: ${JSON.stringify(gauges)}`
    }
  }
  return 'whole'
}

/** Of the last taking. */
export async function epochOf(nodes: readonly Node[]): Promise<number> {
  const leader = await leaderOf(nodes)
  return leader === null ? 0 : Number((await partsOf(leader)).parts.journal?.epoch ?? 0)
}
