import type { TransactionView } from '../../src/api/transaction.js'
import { unexplainedNonces } from '../../src/custody-tools/audit/on-chain-nonces.js'
import { auditHome } from '../../src/custody-tools/maintenance/audit-home.js'
import { parseUsd } from '../../src/domain/money.js'
import type { ChainView } from '../e2e/chain.js'
import { type Stack, transactionsOf } from '../e2e/stack.js'
import type { Agent, Asked, MixChain } from './service-agents.js'

/** Judges by the chains, the service's lists and both evidence logs; empty when all is well. */
export async function auditAgent(
  { owner }: Stack,
  agent: Agent,
  chains: ReadonlyMap<number, MixChain>,
): Promise<{ readonly wrong: readonly string[]; readonly transactions: TransactionView[] }> {
  const wrong: string[] = []
  const listed = new Map<string, TransactionView[]>()
  for (const keyId of agent.keys.keys()) listed.set(keyId, await transactionsOf(owner, keyId))
  const all = [...listed.values()].flat()
  const byId = new Map(all.map((tx) => [tx.tx_id, tx]))
  if (byId.size !== all.length) wrong.push('an id is listed twice')
  for (const asked of agent.asked) wrong.push(...(await judge(asked, byId, chains)))
  for (const { view, halfUsdc } of chains.values()) {
    wrong.push(...(await judgeAccount(view, agent, all)))
    wrong.push(...(await judgeUsdc(view, halfUsdc, agent, all)))
  }
  wrong.push(...(await judgeLimits(agent, all)))
  return { wrong: wrong.map((what) => `${agent.subWalletId}: ${what}`), transactions: all }
}

async function judge(
  { what, chainId, recipient, amount, answer, afterRevocation, keyId }: Asked,
  byId: ReadonlyMap<string, TransactionView>,
  chains: ReadonlyMap<number, MixChain>,
): Promise<string[]> {
  const wrong: string[] = []
  const tx = answer.kind === 'acknowledged' ? byId.get(answer.txId) : undefined
  if (answer.kind === 'acknowledged') {
    if (tx === undefined) return [`${answer.txId} was acknowledged and is not listed`]
    if (!FINAL.has(tx.status)) wrong.push(`${tx.tx_id} is ${tx.status}`)
  }
  if (afterRevocation && answer.kind !== 'refused' && answer.kind !== 'unknown') {
    wrong.push(`${keyId} signed after it had been revoked`)
  }
  const view = chains.get(chainId)?.view
  if (recipient === null || view === undefined) return wrong
  const received = await view.nativeBalance(recipient)
  const landed = received === 0n ? 0n : received / amount
  const name = `${what} to ${recipient} (${tx?.tx_id ?? answer.kind}, ${tx?.status})`
  if (received % amount !== 0n || landed > 1n) wrong.push(`${name} landed ${landed} times`)
  if (answer.kind === 'refused' && landed > 0n) wrong.push(`${name} was refused and executed`)
  if (afterRevocation && landed > 0n) wrong.push(`${name} was executed for a revoked key`)
  if (tx !== undefined && landed !== (tx.status === 'confirmed' ? 1n : 0n)) {
    wrong.push(`${name} landed ${landed} times`)
  }
  return wrong
}

const FINAL = new Set(['confirmed', 'failed', 'dropped'])

/** Its nonces are those of its sends that landed, and one authorization where it has delegated. */
async function judgeAccount(
  view: ChainView,
  { address }: Agent,
  all: readonly TransactionView[],
): Promise<string[]> {
  const hashes = all
    .filter(({ chain_id: chainId, kind }) => chainId === view.chainId && kind === 'send')
    .flatMap(({ tx_hash: hash, replaced_hashes: former }) => [hash, ...former])
  let landed = 0
  for (const hash of hashes) if ((await view.receipt(hash)) !== null) landed++
  const code = await view.call('eth_getCode', [address, 'latest'])
  const delegated = String(code).startsWith('0xef0100') ? 1 : 0
  const nonce = await view.nonceOf(address)
  if (nonce === landed + delegated) return []
  return [`chain ${view.chainId}: nonce ${nonce}, ${landed} landed, ${delegated} delegated`]
}

/** Only what is confirmed has left. */
async function judgeUsdc(
  view: ChainView,
  halfUsdc: bigint,
  { address }: Agent,
  all: readonly TransactionView[],
): Promise<string[]> {
  const left = await view.usdcBalance(address)
  const given = halfUsdc * 2n * 200n
  const count = all.filter(
    ({ chain_id: chainId, kind, status }) =>
      chainId === view.chainId && kind !== 'send' && status === 'confirmed',
  ).length
  const gone = given - left
  if (gone === BigInt(count) * halfUsdc) return []
  return [`chain ${view.chainId}: ${gone} USDC units gone, ${count} sponsored calls confirmed`]
}

/** Of the newest line of keys, while it may still be asked. */
async function judgeLimits(agent: Agent, all: readonly TransactionView[]): Promise<string[]> {
  const { key, keys } = agent
  if (keys.get(key.keyId)?.revoked !== 'no') return []
  const limits = await key.api.get('/api/limits')
  const wrong: string[] = []
  if (limits.json.reserved_usd !== '0.00') wrong.push(`reserved: ${limits.text}`)
  const used = parseUsd(String(limits.json.monthly_used_usd)) ?? -1n
  const spent = all
    .filter(({ key_id: keyId }) => keyId === key.keyId)
    .reduce((sum, { spend_usd: usd }) => sum + (parseUsd(usd) ?? 0n), 0n)
  // Keys that it was rotated from share its counters.
  if (used < spent) wrong.push(`${used} used, ${spent} spent by its newest key alone`)
  return wrong
}

/** What `countersign verify-audit --rpc` says. */
export async function auditEvidence(
  home: string,
  urls: readonly string[],
): Promise<readonly string[]> {
  const nowhere = { service: null, identity: null, registry: null, root: null }
  const { report } = await auditHome({ home, ...nowhere })
  const problems = [...report.problems]
  for (const url of urls) problems.push(...(await unexplainedNonces(url, report)).problems)
  return problems
}
