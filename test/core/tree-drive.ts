import { laneOf } from '../../actors/account/core/state.js'
import { countsOn } from '../../actors/sub-wallet/core/key-tree.js'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import { countersOf } from '../../actors/sub-wallet/core/state.js'
import { type ApiKey, keyStatus } from '../../src/domain/api-key.js'
import type { KeyId, LineageId } from '../../src/domain/ids.js'
import type { Reservation } from '../../src/domain/spend.js'
import { apiKey, CHAIN_ID, KEY_ID, preparedSend, wallet } from '../actors/wallet-fixtures.js'
import { WalletDrive } from './wallet-drive.js'
import { openWallet } from './wallet-world.js'

/** What holds something of the counters of its lineage, and of those above. */
interface Holder {
  readonly lineageId: LineageId
  readonly reservation: Reservation
}

const HOUR_MS = 3_600_000
const RACERS = 6
/** The drive's own calls count from one. */
const RACES_FROM = 500_000

/**
 * Drives a wallet whose key makes keys, and those keys, too, in an order drawn by a seed: any of
 * them sends, is narrowed, rotated, revoked or ends by itself, and the process dies in between.
 */
export class TreeDrive extends WalletDrive {
  #made = 0
  #claims = 0
  #calls = 0

  static override async create(seed: number, capMicros: bigint): Promise<TreeDrive> {
    const world = await openWallet(capMicros)
    const root = world.state.keys.get(KEY_ID)
    if (root === undefined) throw new Error('the wallet has no key')
    await world.handle({ type: 'register-key', key: { ...root, mayDelegate: true } })
    return new TreeDrive(world, seed, capMicros)
  }

  override async step(): Promise<void> {
    const drawn = this.drawn.random.integer(100)
    if (drawn < 6) await this.#make()
    else if (drawn < 7) await this.#narrow()
    else if (drawn < 8) await this.#rotate()
    else if (drawn < 10) await this.#revoke()
    else if (drawn < 15) await this.#race()
    else await super.step()
    await this.#acknowledgeGrants()
  }

  override async handle(command: Command, token: number | null = null): Promise<void> {
    const isCall = command.type === 'prepared-send' || command.type === 'prepared-sponsor-call'
    const asked = isCall ? { ...command, keyId: this.#anyKey().keyId } : command
    const before = this.#holders()
    await super.handle(asked, token)
    this.#check(before)
  }

  /** Now and then one that has ended. */
  #anyKey(): ApiKey {
    const { random } = this.drawn
    const heads = this.#heads()
    return heads.length > 0 && random.chance(0.8) ? random.pick(heads) : random.pick(this.#keys())
  }

  #keys(): readonly ApiKey[] {
    return [...this.world.state.keys.values()]
  }

  #heads(): readonly ApiKey[] {
    return [...this.world.state.heads.values()].filter(
      (key) => keyStatus(key, this.drawn.nowMs) === 'active',
    )
  }

  async #make(): Promise<void> {
    const { random, nowMs } = this.drawn
    const maker = this.#anyKey()
    const n = ++this.#made
    const keyId = `key_${String(1_000 + n).padStart(26, '0')}` as KeyId
    const { dayMicros } = countersOf(this.world.state, maker.lineageId, nowMs)
    const leftMicros = (maker.dailyLimitMicros ?? 0n) - dayMicros
    // Several of one maker's may have together what it has not.
    const share = BigInt(random.pick([1, 1, 2, 5]))
    const cap = leftMicros > 0n ? leftMicros / share : BigInt(random.integer(100))
    const key = apiKey({
      ...{ keyId, lineageId: keyId as string as LineageId, parentLineageId: maker.lineageId },
      secretHash: String(n).padStart(64, '0'),
      dailyLimitMicros: cap,
      monthlyLimitMicros: cap * BigInt(1 + random.integer(3)),
      mayDelegate: random.chance(0.7),
      createdAtMs: nowMs,
      endsAtMs: Math.min(nowMs + (1 + random.integer(240)) * HOUR_MS, maker.endsAtMs ?? nowMs * 2),
    })
    const token = -2 * n
    await this.handle({ type: 'plan-sub-key', key, madeBy: maker.keyId, nowMs }, token)
    const planned = this.world.replies.findLast((reply) => reply.token === token)?.result
    if (planned?.ok !== true) return
    await this.handle({ type: 'register-key', key: planned.value as ApiKey }, token - 1)
  }

  /** Calls of several keys for what their makers have left together. */
  async #race(): Promise<void> {
    const { random, nowMs } = this.drawn
    for (let i = 0; i < RACERS; i++) {
      const n = RACES_FROM + ++this.#calls
      const isNew = laneOf(this.world.state, CHAIN_ID).nextNonce === null
      const said = { nowMs, chainNonce: isNew ? 0 : null }
      await this.handle(preparedSend(n, BigInt(1 + random.integer(150)), said), n)
    }
  }

  async #narrow(): Promise<void> {
    const { random, nowMs } = this.drawn
    const key = this.#anyKey()
    if (key.keyId === KEY_ID || key.dailyLimitMicros === null) return
    const dailyLimitMicros = (key.dailyLimitMicros * BigInt(1 + random.integer(9))) / 10n
    const patch = { dailyLimitMicros }
    await this.handle({ type: 'patch-key', keyId: key.keyId, patch, claimId: null, nowMs })
  }

  async #rotate(): Promise<void> {
    const { random, nowMs } = this.drawn
    const heads = this.#heads()
    if (heads.length === 0) return
    const { keyId: rotatedFrom } = random.pick(heads)
    const n = ++this.#made
    const keyId = `key_${String(1_000 + n).padStart(26, '0')}` as KeyId
    const secretHash = String(n).padStart(64, '0')
    const claimId = `claim-${++this.#claims}`
    const of = { keyId, rotatedFrom, patch: null }
    await this.#acknowledgeGrants()
    await this.handle({ type: 'claim-grant', claimId, of, nowMs }, -2 * n)
    const successor = { keyId, secretHash, secretPrefix: 'sk_test_bbbb' }
    await this.handle({ type: 'rotate-key', keyId: rotatedFrom, successor, claimId, nowMs })
  }

  async #revoke(): Promise<void> {
    const { nowMs } = this.drawn
    const { keyId, lineageId } = this.#anyKey()
    const root = this.world.state.keys.get(KEY_ID)
    if (lineageId === root?.lineageId) return
    await this.handle({ type: 'revoke-key', keyId, nowMs })
    for (const key of this.#keys()) {
      const { parents } = this.world.state
      const parent = parents.get(key.lineageId)
      const head = parent === undefined ? undefined : this.world.state.heads.get(parent)
      if (head === undefined || keyStatus(head, nowMs) !== 'revoked') continue
      if (keyStatus(key, nowMs) !== 'revoked') throw new Error(`${key.keyId} outlives its maker`)
    }
  }

  async #acknowledgeGrants(): Promise<void> {
    for (;;) {
      const at = this.world.pending.findIndex(({ type }) => type === 'put-grant')
      const [effect] = at < 0 ? [] : this.world.pending.splice(at, 1)
      if (effect?.type !== 'put-grant') return
      const { keyId, version } = effect.change
      await this.handle({ type: 'grant-answered', keyId, version, taken: true })
    }
  }

  /** Of all that waits or is open, by call. */
  #holders(): ReadonlyMap<string, Holder> {
    const { open, drafts, sponsored } = this.world.state
    const found = new Map<string, Holder>()
    for (const { tx } of open.values()) found.set(tx.txId, tx)
    for (const { draft } of drafts.values()) {
      if (draft.signs === 'first-time') found.set(draft.txId, draft)
    }
    for (const [txId, { sponsorship, draft }] of sponsored) {
      const holder = sponsorship ?? draft
      if (holder !== null) found.set(txId, holder)
    }
    return found
  }

  #check(before: ReadonlyMap<string, Holder>): void {
    const { state } = this.world
    const { nowMs } = this.drawn
    const holders = this.#holders()
    for (const head of state.heads.values()) {
      const counters = countersOf(state, head.lineageId, nowMs)
      let heldMicros = 0n
      for (const { lineageId, reservation } of holders.values()) {
        if (countsOn(state, lineageId, head.lineageId)) heldMicros += reservation.micros
      }
      if (counters.reservedMicros !== heldMicros) {
        throw new Error(`${head.keyId}: ${counters.reservedMicros} reserved, ${heldMicros} held`)
      }
      const { dailyLimitMicros, monthlyLimitMicros } = head
      for (const [txId, { lineageId }] of holders) {
        const isNew = !before.has(txId) && this.#isAsked(txId)
        if (!isNew || !countsOn(state, lineageId, head.lineageId)) continue
        if (
          counters.dayMicros > (dailyLimitMicros ?? counters.dayMicros) ||
          counters.monthMicros > (monthlyLimitMicros ?? counters.monthMicros)
        ) {
          throw new Error(`${head.keyId}: ${txId} took it past its caps`)
        }
        if (keyStatus(head, nowMs) === 'revoked') {
          throw new Error(`${txId} came in below ${head.keyId}, which has ended`)
        }
      }
    }
  }

  /** Not what a lane sends itself to close a gap, which no cap can refuse, nor what came back. */
  #isAsked(txId: string): boolean {
    for (const { draft, phase } of this.world.state.drafts.values()) {
      if (draft.txId !== txId) continue
      return (
        phase === 'screening' && draft.call.to !== wallet.address && draft.call.chainId === CHAIN_ID
      )
    }
    for (const { txId: id, phase } of this.world.state.sponsored.values()) {
      if (id === txId) return phase === 'screening'
    }
    return false
  }
}
