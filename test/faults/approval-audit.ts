import { join } from 'node:path'
import { serviceLayout, userSideLayout } from '../../src/custody/domain-keys/layout.js'
import { openEvidenceReader } from '../../src/custody/evidence/evidence-log.js'
import { type ReadEvidence, readEvidence } from '../../src/custody/evidence/read-evidence.js'
import { type ApprovalId, ulidBytes } from '../../src/domain/ids.js'
import { decodeIntent } from '../../src/quorum-protocol/intent.js'
import { decodePayload } from '../../src/quorum-protocol/payload.js'
import type { ChainView } from '../e2e/chain.js'
import { type Stack, transactionsOf } from '../e2e/stack.js'
import {
  CHAIN_ID,
  type Life,
  type LifeKind,
  type Payment,
  until,
  type Waiter,
} from './approval-lives.js'
import { type ChainHistory, type MinedTransaction, readHistory } from './chain-history.js'
import { sentBy } from './chain-worth.js'
import { verifyAudit } from './verify-audit.js'

/**
 * Judges the lives of waiting calls by the chain, by what the API says, and by both domains'
 * evidence; sentences, none when all is well.
 */
const ENDS: Readonly<Record<LifeKind, readonly string[]>> = {
  approved: ['confirmed'],
  declined: ['declined'],
  withdrawn: ['withdrawn'],
  contested: ['confirmed', 'declined'],
  expired: ['expired'],
  delayed: ['confirmed'],
}
/** Kinds that nobody approves. */
const UNAPPROVED: ReadonlySet<LifeKind> = new Set(['declined', 'withdrawn', 'expired', 'delayed'])

/** What one log says of approvals, by the hex of their ids. */
interface Said {
  /** Proofs of people that were taken. */
  readonly proofs: ReadonlyMap<string, number>
  /** Nonces at which it let a call be signed that rests on one. */
  readonly nonces: ReadonlyMap<string, ReadonlySet<string>>
}

export async function auditApprovals(
  stack: Stack,
  waiters: readonly Waiter[],
  view: ChainView,
  fromBlock: number,
): Promise<string[]> {
  const { service, owner } = stack
  const wrong: string[] = []
  for (const { key } of waiters) wrong.push(...(await nothingHeld(key.api)))
  const pending = await owner.get('/approvals?status=pending')
  if ((pending.json.approvals as readonly unknown[] | undefined)?.length !== 0) {
    wrong.push(`some wait still: ${pending.text}`)
  }
  const history = await readHistory(view, fromBlock)
  wrong.push(...history.wrong)
  const user = saidBy(await readLog('user side', userSideLayout(service.home).evidence, wrong))
  const homes = service.nodes().map(({ home }) => home)
  const logs = homes.map((home) => readLog('service', serviceLayout(home).evidence, wrong))
  const own = (await Promise.all(logs)).map(saidBy)
  for (const waiter of waiters) {
    for (const life of waiter.lives) wrong.push(...judgeLife(life, history, user, own))
    for (const other of waiter.others) {
      const landed = landedOf(waiter, other, history).length
      if (landed !== 1) wrong.push(`${other.txId}, which waited for nobody, landed ${landed} times`)
    }
    wrong.push(...judgeAccount(waiter, history, await transactionsOf(owner, waiter.key.keyId)))
  }
  const services = homes.map((home) => join(home, 'service'))
  wrong.push(...(await verifyAudit(service.home, [service.dev().rpc[CHAIN_ID] ?? ''], services)))
  return wrong
}

/** @returns a sentence once it has been long enough */
async function nothingHeld(api: Waiter['key']['api']): Promise<string[]> {
  let last = ''
  try {
    await until('what is held', async () => {
      const reply = await api.get('/api/limits').catch(() => null)
      last = reply?.text ?? last
      return reply?.json.reserved_usd === '0.00'
    })
    return []
  } catch {
    return [`a reservation is left: ${last}`]
  }
}

async function readLog(name: string, path: string, wrong: string[]): Promise<ReadEvidence> {
  const log = openEvidenceReader(path)
  try {
    const read = readEvidence(name, log.entries())
    wrong.push(...read.problems)
    return read
  } finally {
    await log.close()
  }
}

function saidBy({ approvals, batches }: ReadEvidence): Said {
  const proofs = new Map<string, number>()
  for (const { value } of approvals) {
    const id = hex(value.statement.approvalId)
    if (value.action === 'approved') proofs.set(id, (proofs.get(id) ?? 0) + 1)
  }
  const nonces = new Map<string, Set<string>>()
  for (const { value } of batches) {
    value.intents.forEach((encoded, at) => {
      const intent = decodeIntent(encoded)
      if (intent.approval === null || ((value.bitmap >>> at) & 1) === 0) return
      const payload = decodePayload(intent.type, intent.payload)
      // A delegation moves nothing; the Router's nonces are its own.
      if (payload.kind === 'authorization') return
      const nonce = payload.kind === 'transaction' ? String(payload.nonce) : hex(payload.nonce)
      const id = hex(intent.approval.approvalId)
      nonces.set(id, (nonces.get(id) ?? new Set()).add(nonce))
    })
  }
  return { proofs, nonces }
}

/** @param own of each node */
function judgeLife(life: Life, history: ChainHistory, user: Said, own: readonly Said[]): string[] {
  const { kind, step, status, txId, approvalId } = life
  const wrong: string[] = []
  const name = `${txId} (${kind}, killed at ${step}, ${status})`
  if (status === null || !ENDS[kind].includes(status)) {
    wrong.push(`${name} should not end so: ${life.error}`)
  }
  const landed = landedOf(life.waiter, life, history)
  if (landed.length !== (status === 'confirmed' ? 1 : 0)) {
    wrong.push(`${name} landed ${landed.length} times`)
  }
  if (approvalId === null) return [...wrong, `${name} waited for nobody`]
  const id = hex(ulidBytes(approvalId as ApprovalId))
  const nonces = user.nonces.get(id) ?? new Set()
  if (nonces.size > 1) wrong.push(`${name} could be signed at nonces ${[...nonces].join(', ')}`)
  for (const nonce of own.flatMap(({ nonces: said }) => [...(said.get(id) ?? [])])) {
    if (!nonces.has(nonce)) wrong.push(`${name} was signed at ${nonce}, says the service alone`)
  }
  const proofs = user.proofs.get(id) ?? 0
  if (UNAPPROVED.has(kind) && proofs > 0) wrong.push(`${name} was approved ${proofs} times`)
  if (kind !== 'delayed' && nonces.size > 0 && proofs === 0) {
    wrong.push(`${name} was signed without a proof`)
  }
  // The account's nonce; a swap lands at its gas wallet's.
  for (const { nonce } of life.recipient === null ? [] : landed) {
    if (!nonces.has(String(nonce))) {
      wrong.push(`${name} landed at ${nonce}, where nobody let it be signed`)
    }
  }
  return wrong
}

/** Each transaction of the wallet is a life's or another's, and is listed once. */
function judgeAccount(
  { key, address, lives, others }: Waiter,
  history: ChainHistory,
  listed: Awaited<ReturnType<typeof transactionsOf>>,
): string[] {
  const wrong: string[] = []
  const asked = [...lives, ...others]
  const ids = new Set(asked.map(({ txId }) => txId))
  for (const { tx_id: txId } of listed) {
    if (!ids.has(txId)) wrong.push(`${key.keyId}: nobody was told of ${txId}`)
  }
  if (listed.length !== asked.length) {
    wrong.push(`${key.keyId}: ${asked.length} were asked for, ${listed.length} are listed`)
  }
  const recipients = new Set(asked.map(({ recipient }) => recipient?.toLowerCase()))
  for (const { from, to, hash } of history.byHash.values()) {
    if (from !== address.toLowerCase()) continue
    const isClosing = to === from
    if (!isClosing && !recipients.has(to ?? '')) wrong.push(`${hash} is nobody's`)
  }
  return wrong
}

function landedOf(
  { address, usdc }: Waiter,
  { recipient, amount }: Payment,
  { byHash }: ChainHistory,
): MinedTransaction[] {
  return [...byHash.values()].filter((mined) => {
    if (recipient === null) return sentBy(address, usdc, mined) === amount
    return mined.succeeded && mined.to === recipient.toLowerCase()
  })
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
