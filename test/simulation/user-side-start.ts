import { type EvidenceLog, evidenceLogIn } from '../../src/custody/evidence/evidence-log.js'
import { createPersons } from '../../src/custody/members/persons.js'
import type { Cell } from '../../src/domain/cells.js'
import { approveBatch } from '../../src/identity-provider/vault/approve-batch.js'
import { catchUp } from '../../src/identity-provider/vault/catch-up.js'
import { createLanes, type Lanes } from '../../src/identity-provider/vault/lanes.js'
import { type LedgerStore, ledgerStoreIn } from '../../src/identity-provider/vault/ledger-store.js'
import {
  createServiceBoots,
  type ServiceBoots,
} from '../../src/identity-provider/vault/service-boots.js'
import { laneOf } from '../../src/quorum-protocol/batch.js'
import { expectBytes, expectInteger, expectList } from '../../src/quorum-protocol/bytes.js'
import { decodeIntent, isAbsent } from '../../src/quorum-protocol/intent.js'
import { SIGNING } from '../../src/quorum-protocol/methods/signing.js'
import { offerSession, openBoot } from '../../src/quorum-protocol/quorum-session.js'
import { type RefusalCode, refusalCode } from '../../src/quorum-protocol/refusal.js'
import type { RegistryHolder } from '../../src/quorum-protocol/registry-holder.js'
import { createSealer, type ShareSealer } from '../../src/quorum-protocol/sealed-shares.js'
import type { Connection } from '../../src/quorum-protocol/server.js'
import { openServiceBoot } from '../../src/quorum-protocol/service-boot.js'
import type { AnnouncedLeaders } from './announced-leaders.js'
import { type Clock, timersBy } from './clocks.js'
import type { LmdbFile } from './lmdb-files.js'
import { AUTHORIZERS, type QuorumApprovals } from './quorum-approvals.js'
import type { QuorumFreezes } from './quorum-freezes.js'
import type { QuorumGrants } from './quorum-grants.js'
import { type QuorumWallets, SIGNERS } from './quorum-keys.js'
import type { Draw } from './random.js'
import type { Life, Scheduler } from './scheduler.js'
import { READ_TOKENS } from './user-side-asks.js'

export interface UserSidePorts {
  readonly scheduler: Scheduler
  readonly draw: Draw
  readonly registry: RegistryHolder
  readonly wallets: QuorumWallets
  readonly grants: QuorumGrants
  readonly approvals: QuorumApprovals
  readonly freezes: QuorumFreezes
  /** Approvals leave before the evidence is on disk: a fault to be found. */
  readonly approvesEarly: boolean
  /** What the evidence has and the ledger does not is not read at a start: a fault to be found. */
  readonly forgetsEvidence: boolean
  /** A start whose connection has gone takes over from its successor: a fault to be found. */
  readonly takesDeadStarts: boolean
  /** An earlier owner of the journal takes over from the present one: a fault to be found. */
  readonly ignoresLeaders: boolean
  /** It does for an earlier owner what is no signature: a fault to be found. */
  readonly servesEarlier: boolean
  readonly clock: Clock
  /** It may differ from those of machines: what they think is due may not be here. */
  readonly hasOwnClock: boolean
  readonly heard: AnnouncedLeaders
  readonly wrong: (what: string) => void
}

/** What it keeps. */
export interface UserSideFiles {
  readonly evidence: LmdbFile
  readonly ledger: LmdbFile
}

/**
 * What the service never asks for, whoever was faster: it judged the call by the same rules, and was
 * told of the same people.
 */
const NEVER_ASKED: ReadonlySet<RefusalCode> = new Set([
  'APPROVAL_UNKNOWN',
  'APPROVAL_MISMATCH',
  'APPROVAL_MISSING',
  'APPROVAL_EARLY',
])

/** To read a token, which may ask who signs people in. */
const TOKEN_MS_MAX = 30
const LANES = { lanesAtOnce: 65_536, laneEveryMs: 1_000 }

/**
 * One start of the identity provider's vault as far as it approves: its own code for evidence and
 * ledger, for what a crash kept from following, and for starts, lanes and batches.
 */
export class UserSideStart {
  readonly #ports: UserSidePorts
  readonly #evidence: EvidenceLog
  readonly #ledger: LedgerStore
  readonly #lanes: Lanes
  readonly #boots: ServiceBoots
  #sealer: ShareSealer | null = null

  private constructor(ports: UserSidePorts, evidence: EvidenceLog, ledger: LedgerStore) {
    this.#ports = ports
    this.#evidence = evidence
    this.#ledger = ledger
    this.#lanes = createLanes(ledger, { ...LANES, elapsedMs: ports.clock.elapsed })
    this.#boots = createServiceBoots(
      ledger,
      this.#lanes,
      (kid) =>
        kid === null ||
        ports.registry.current.keyById('co_signers', kid, ports.clock.now()) !== null,
    )
  }

  /**
   * @param onBroken its evidence took no entry: it has to begin anew
   * @returns once it may approve; never after its life is over
   * @throws Error when the disk does not take what it has to write down first
   */
  static async begin(
    ports: UserSidePorts,
    files: UserSideFiles,
    life: Life,
    onBroken: () => void,
  ): Promise<UserSideStart> {
    const { scheduler, clock, draw, grants, approvals, forgetsEvidence } = ports
    const evidence = evidenceLogIn(files.evidence.openedBy(life), 'evidence', 0, onBroken)
    const timers = timersBy(clock, scheduler, life, draw)
    const store = ledgerStoreIn(files.ledger.openedBy(life), evidence, timers)
    // Grants, and what people said, are kept elsewhere in this world.
    const ledger = Object.assign(Object.create(store) as LedgerStore, {
      key: (id: Uint8Array) => grants.key(id),
      grant: (id: Uint8Array) => grants.grant(id),
      approvals: { ...store.approvals, approval: (id: Uint8Array) => approvals.approval(id) },
    })
    if (!forgetsEvidence) await catchUp(ledger, evidence, 'evidence', clock.now())
    return new UserSideStart(ports, evidence, ledger)
  }

  /** What is held at the places of what was approved. */
  remembers<T>(read: (entry: Parameters<Parameters<LedgerStore['decide']>[0]>[0]) => T): T {
    return this.#ledger.decide(read)
  }

  async serve(method: string, parameters: readonly unknown[], connection: Connection) {
    const { registry, grants, clock, heard, takesDeadStarts, servesEarlier } = this.#ports
    if (takesDeadStarts) takenForOpen(connection)
    if (method === 'hello') return this.#hello(parameters, connection)
    const [work] = parameters
    const isKept = typeof work === 'function'
    if (isKept && servesEarlier) return this.#kept(method, work as () => unknown, connection)
    const cell = this.#boots.requireServed(connection)
    if (isKept) return this.#kept(method, work as () => unknown, connection)
    heard.requireLatest(method, connection)
    switch (method) {
      case 'session': {
        const boot = openBoot(expectBytes(parameters[0]), registry.current, clock.now())
        const { offer, session } = await offerSession(boot, 'user', SIGNERS.user)
        this.#boots.requireServed(connection)
        this.#sealer = createSealer(session)
        return offer
      }
      case 'grant-get':
        return grants.referenceOf(expectBytes(parameters[0], 16))
      case 'approve':
        return this.#approve(parameters, cell)
      default:
        throw new Error(`the user side has no ${method}`)
    }
  }

  async #hello([, , lastApproved, statement]: readonly unknown[], connection: Connection) {
    const { registry, clock, heard, ignoresLeaders } = this.#ports
    const start = openServiceBoot(expectList(statement, 3), registry.current, clock.now())
    await this.#boots.admit(ignoresLeaders ? { ...start, leadership: null } : start, connection)
    const remembered = this.#ledger.highestIn(laneOf(expectInteger(lastApproved)))
    const { number } = this.#boots.requireServed(connection)
    heard.admitted(start.leadership?.epoch ?? 0, connection)
    return [await this.#lanes.next(number), remembered]
  }

  /** What is kept by rules alone, behind the doors that `start-vault.ts` has before all of it. */
  async #kept(method: string, work: () => unknown, connection: Connection): Promise<unknown> {
    const { scheduler, draw, servesEarlier, heard } = this.#ports
    if (READ_TOKENS.has(method)) {
      const readMs = draw.integer(TOKEN_MS_MAX)
      await new Promise<void>((resolve) => void scheduler.after(readMs, resolve))
      if (!servesEarlier) this.#boots.requireServed(connection)
    }
    heard.requireLatest(method, connection)
    return work()
  }

  async #approve(parameters: readonly unknown[], cell: Cell) {
    const { registry, wallets, grants, freezes, approvesEarly, clock, wrong } = this.#ports
    const evidence = this.#evidence
    const context = {
      ...{ cell, registry: registry.current },
      shares: wallets.sharesOf('user'),
      ...{ ledger: this.#ledger, lanes: this.#lanes, grants, freezes },
      // Nobody was invited: each authorizer counts as a person.
      persons: createPersons({ members: () => null }, { setOf: () => AUTHORIZERS }),
      ...{ signer: SIGNERS.user, sealer: this.#sealer },
      evidence: approvesEarly ? early(evidence) : evidence,
    }
    const batch = SIGNING.approve.parameters.decode(parameters)
    const approval = await approveBatch(batch, context, clock.now())
    for (const [index, refused] of approval.answers.entries()) {
      if (refused === null) continue
      // A replacement may want more gas than was approved: nobody else knows how much that was.
      const { replaces } = decodeIntent(batch.intents[index] ?? Buffer.alloc(0))
      const code = refusalCode(refused[0])
      const isByClock = code === 'APPROVAL_EARLY' && this.#ports.hasOwnClock
      if (isAbsent(replaces) && NEVER_ASKED.has(code) && !isByClock)
        wrong(`a signature was asked for: ${code}`)
    }
    return SIGNING.approve.result.encode(approval)
  }
}

function takenForOpen(connection: Connection): void {
  Object.defineProperty(connection, 'closed', { value: false, configurable: true })
}

function early(evidence: EvidenceLog): Pick<EvidenceLog, 'append'> {
  return {
    append(entry) {
      evidence.append(entry).catch(() => undefined)
      return Promise.resolve()
    },
  }
}
