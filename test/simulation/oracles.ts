import { dequal } from 'dequal'
import { withoutDrafts } from '../../actors/account/core/lane-nonces.js'
import { laneOf } from '../../actors/account/core/state.js'
import type { GasWalletState } from '../../actors/gas-wallet/core/state.js'
import { loadGasWallet } from '../../actors/gas-wallet/record.js'
import { countsOn } from '../../actors/sub-wallet/core/key-tree.js'
import { countersOf, type SubWalletState } from '../../actors/sub-wallet/core/state.js'
import { loadState } from '../../actors/sub-wallet/record.js'
import type { Holder } from '../../actors/webhook-endpoint/record.js'
import type { Freeze } from '../../src/domain/freeze.js'
import type { LineageId, UserId } from '../../src/domain/ids.js'
import { NO_SPEND, rollForward } from '../../src/domain/spend.js'
import type { Transaction } from '../../src/domain/transaction.js'
import type { FrozenSubject } from '../../src/service-custody/co-signer.js'
import type { Reader } from '../../src/store/reader.js'
import type { Callers } from './callers.js'
import type { Quorum } from './quorum.js'
import type { Service } from './service.js'

/** Actors that are looked at. */
export interface Held {
  readonly wallets: Iterable<SubWalletState>
  readonly gasWallets: Iterable<GasWalletState>
}

/** Where everything that was decided is on disk: what a restart would load is what is held. */
export function mirrors({ wallets, gasWallets }: Held, reader: Reader, nowMs: number): string[] {
  const wrong: string[] = []
  for (const state of wallets) wrong.push(...mirrorsWallet(state, reader, nowMs))
  for (const state of gasWallets) wrong.push(...mirrorsGasWallet(state, reader))
  return wrong
}

function mirrorsWallet(state: SubWalletState, reader: Reader, nowMs: number): string[] {
  const stored = loadState(reader, state.subWalletId)
  const differing: string[] = []
  const same = (what: string, held: unknown, kept: unknown) => {
    if (dequal(held, kept)) return
    differing.push(
      `${what} of ${state.subWalletId}: memory has ${show(held)}, the store ${show(kept)}`,
    )
  }
  same('wallet', state.wallet, stored.wallet)
  same('keys', state.keys, stored.keys)
  same('spend', spendOf(state, nowMs), spendOf(stored, nowMs))
  same('open', openOf(state), openOf(stored))
  same('sponsored', sponsoredOf(state), sponsoredOf(stored))
  same('gas of the day', state.sponsoredGas, stored.sponsoredGas)
  same('ledgers', byKey(state.policyLedgers), byKey(stored.policyLedgers))
  same('waiting', waitingOf(state), waitingOf(stored))
  same('grants', [...state.grants.byKey.keys()].sort(), [...stored.grants.byKey.keys()].sort())
  for (const [chainId, lane] of state.lanes) {
    const kept = stored.lanes.get(chainId)?.nextNonce ?? null
    // A lane that has stored nothing yet may know its nonce from the chain alone.
    const hasStored = kept !== null || hasOpenOn(state, chainId)
    if (hasStored) same('next nonce', withoutDrafts(state, lane).nextNonce, kept)
  }
  for (const [chainId, next] of stored.intentNonces) {
    const handedOut = state.intentNonces.get(chainId) ?? 0
    if (handedOut < next) differing.push(`intent nonce ${handedOut} is handed out again`)
  }
  for (const lineageId of state.heads.keys()) differing.push(...whatCounts(state, lineageId, nowMs))
  return differing
}

function hasOpenOn({ open }: SubWalletState, chainId: number): boolean {
  for (const { tx } of open.values()) if (tx.call.chainId === chainId) return true
  return false
}

type Holding = Pick<Transaction, 'lineageId' | 'reservation'>

/** Reserved is what is held, of itself and of all below it, and nothing is below zero. */
function whatCounts(state: SubWalletState, lineageId: LineageId, nowMs: number): string[] {
  const { reservedMicros, dayMicros, monthMicros } = countersOf(state, lineageId, nowMs)
  let heldMicros = 0n
  const holds = (one: Holding) => {
    if (countsOn(state, one.lineageId, lineageId)) heldMicros += one.reservation.micros
  }
  for (const { tx } of state.open.values()) holds(tx)
  for (const { tx } of state.waiting.byTx.values()) holds(tx)
  // What was let through holds what its waiting call does.
  for (const { draft } of state.drafts.values()) {
    if (draft.signs === 'first-time' && draft.approval === undefined) holds(draft)
  }
  for (const { sponsorship, draft } of state.sponsored.values()) {
    const held = sponsorship ?? (draft?.approval === undefined ? draft : null)
    if (held !== null) holds(held)
  }
  const wrong: string[] = []
  if (reservedMicros !== heldMicros) wrong.push(`${reservedMicros} reserved, ${heldMicros} held`)
  const { dayMicros: day, monthMicros: month } = rollForward(
    state.spend.get(lineageId) ?? NO_SPEND,
    nowMs,
  )
  if (day < 0n || month < day || dayMicros < 0n || monthMicros < dayMicros) {
    wrong.push(`${day} used of the day, ${month} of the month`)
  }
  return wrong
}

function mirrorsGasWallet(state: GasWalletState, reader: Reader): string[] {
  const stored = loadGasWallet(reader, state.gasWalletId, 0)
  const differing: string[] = []
  const same = (what: string, held: unknown, kept: unknown) => {
    if (dequal(held, kept)) return
    differing.push(
      `${what} of ${state.gasWalletId}: memory has ${show(held)}, the store ${show(kept)}`,
    )
  }
  const { account, jobs } = state
  same('address', account.wallet?.address, stored.account.wallet?.address)
  same('open', openJobsOf(state), openJobsOf(stored))
  const kept = laneOf(stored.account, state.chainId).nextNonce
  if (kept !== null || account.open.size > 0) {
    const { nextNonce } = withoutDrafts(account, laneOf(account, state.chainId))
    same('next nonce', nextNonce, kept)
  }
  for (const txId of jobs.keys()) {
    const isJob = account.open.has(txId) || account.drafts.has(txId)
    if (!isJob) differing.push(`${txId} is no job`)
  }
  return differing
}

function spendOf({ spend }: SubWalletState, nowMs: number) {
  return byKey(spend).map(([id, counters]) => [id, rollForward(counters, nowMs)])
}

function waitingOf({ waiting }: SubWalletState) {
  return byKey(waiting.byTx).map(([id, { tx, approval }]) => [id, tx, approval])
}

function openOf({ open }: SubWalletState) {
  return byKey(open).map(([id, { tx }]) => [id, tx])
}

/** What has no intent yet is a draft, and a restart forgets it. */
function sponsoredOf({ sponsored }: SubWalletState) {
  return byKey(sponsored)
    .filter(([, { sponsorship }]) => sponsorship !== null)
    .map(([id, { phase, gasMicros, sponsorship, tx }]) => [id, phase, gasMicros, sponsorship, tx])
}

function openJobsOf({ account, jobs }: GasWalletState) {
  return byKey(account.open).map(([id, { tx }]) => [id, tx, jobs.get(id) ?? null])
}

function byKey<Key extends string, Value>(map: ReadonlyMap<Key, Value>) {
  return [...map].sort(([a], [b]) => (a < b ? -1 : Number(a > b)))
}

function show(value: unknown): string {
  return JSON.stringify(value, (_, it: unknown) => (typeof it === 'bigint' ? `${it}n` : it))
}

/** What the store says the identity provider has frozen, that has. */
export function frozenThere(users: readonly UserId[], reader: Reader, quorum: Quorum): string[] {
  return users.flatMap((userId) =>
    reader.freezes
      .ofUser(userId)
      .filter((freeze) => freeze.custody === 'current' && !quorum.freezes.has(subjectOf(freeze)))
      .map(({ name }) => `${name} of ${userId} is called frozen there, and is not`),
  )
}

function subjectOf({ scope, userId, subWalletId, lineageId }: Freeze): FrozenSubject {
  return { scope, userId, walletId: scope === 'wallet' ? subWalletId : null, lineageId }
}

/** True when nothing is under way any more. */
export function isAtRest(service: Service, callers: Callers): boolean {
  const { wallets, gasWallets, endpoints } = service.resident
  const { reader } = service
  const isIdle = ({ open, drafts, sponsored, delegations, grants, waiting }: SubWalletState) =>
    open.size + drafts.size + sponsored.size + delegations.size === 0 &&
    grants.byKey.size + waiting.byTx.size === 0
  const isDone = ({ account }: GasWalletState) => account.open.size + account.drafts.size === 0
  if (![...wallets.values()].every(isIdle) || ![...gasWallets.values()].every(isDone)) return false
  // After a start not all of them are in memory.
  const hasOpen = callers.wallets.some(
    ({ subWalletId }) => !reader.transactions.openOfWallet(subWalletId).next().done,
  )
  if (![...endpoints.values()].every(isTold)) return false
  if (reader.approvals.walletsWithWaiting().next().done !== true) return false
  return !hasOpen && reader.gas.sponsoredWallets().next().done === true
}

/** It was told of all that there was. */
function isTold({ state }: Holder): boolean {
  return state !== null && state.pending.length === 0 && !state.behind && state.feed === 'idle'
}
