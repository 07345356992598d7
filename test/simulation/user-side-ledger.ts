import type { ApproveWriter } from '../../src/identity-provider/vault/approve-batch.js'
import type { LedgerEntry } from '../../src/identity-provider/vault/nonce-ledger.js'
import { NO_POLICY_LEDGER, type PolicyLedger } from '../../src/policy/policy-ledger.js'
import type { ServiceStart } from '../../src/quorum-protocol/service-boot.js'
import type { QuorumApprovals } from './quorum-approvals.js'

/** What the user side remembers of what it approved: as `ledger-store.ts`, without a disk. */
export class UserSideLedger implements ApproveWriter {
  readonly approvals: Pick<QuorumApprovals, 'approval' | 'approvalUse'>
  lastLane = 0
  lastBoot = 0
  readonly #putApprovalUse: QuorumApprovals['putApprovalUse']
  readonly #flush: () => Promise<void>
  readonly #boots = new Map<string, number>()
  readonly #highest = new Map<number, number>()
  readonly #entries = new Map<string, LedgerEntry>()
  readonly #intents = new Set<string>()
  readonly #usage = new Map<string, PolicyLedger>()

  /** @param flush resolves once what was put so far is on disk */
  constructor(approvals: QuorumApprovals, flush: () => Promise<void>) {
    this.approvals = approvals
    this.#putApprovalUse = (id, place) => approvals.putApprovalUse(id, place)
    this.#flush = flush
  }

  commit<T>(write: (ledger: UserSideLedger) => T) {
    return { result: write(this), flushed: this.#flush() }
  }

  decide<T>(write: (ledger: UserSideLedger) => T): T {
    return write(this)
  }

  bootNumber(boot: Uint8Array): number | null {
    return this.#boots.get(nameOf(boot)) ?? null
  }

  /** Its services have no journal. */
  ownerEpoch(): number {
    return 0
  }

  putBoot(number: number, { boot }: ServiceStart): void {
    this.#boots.set(nameOf(boot), number)
    this.lastBoot = number
  }

  highestIn(lane: number): number {
    return this.#highest.get(lane) ?? 0
  }

  putLane(lane: number, batchSeq: number): void {
    this.lastLane = Math.max(this.lastLane, lane)
    this.#highest.set(lane, Math.max(this.highestIn(lane), batchSeq))
  }

  entry(walletId: Uint8Array, chainId: number, nonce: number): LedgerEntry | null {
    return this.#entries.get(placeOf(walletId, chainId, nonce)) ?? null
  }

  putEntry(walletId: Uint8Array, chainId: number, nonce: number, entry: LedgerEntry): void {
    this.#entries.set(placeOf(walletId, chainId, nonce), entry)
  }

  hasIntent(id: Uint8Array): boolean {
    return this.#intents.has(nameOf(id))
  }

  rememberIntents(_: number, ids: readonly Uint8Array[]): void {
    for (const id of ids) this.#intents.add(nameOf(id))
  }

  usage(grantId: Uint8Array): PolicyLedger {
    return this.#usage.get(nameOf(grantId)) ?? NO_POLICY_LEDGER
  }

  putUsage(grantId: Uint8Array, usage: PolicyLedger): void {
    this.#usage.set(nameOf(grantId), usage)
  }

  putApprovalUse(id: Uint8Array, place: Uint8Array): void {
    this.#putApprovalUse(id, place)
  }

  /** It never starts anew, so that nothing is counted twice. */
  awaitRecord(): void {}

  recorded(): void {}
}

function placeOf(walletId: Uint8Array, chainId: number, nonce: number): string {
  return `${nameOf(walletId)} ${chainId} ${nonce}`
}

function nameOf(id: Uint8Array): string {
  return Buffer.from(id).toString('hex')
}
