import type { EvidenceEntry } from '../../src/custody/evidence/evidence-log.js'
import { decodeBatchEvidence } from '../../src/custody/evidence/evidence-records.js'
import { createPersons } from '../../src/custody/members/persons.js'
import { approveBatch } from '../../src/identity-provider/vault/approve-batch.js'
import { createLanes } from '../../src/identity-provider/vault/lanes.js'
import { createServiceBoots } from '../../src/identity-provider/vault/service-boots.js'
import { hasBit, laneOf } from '../../src/quorum-protocol/batch.js'
import { expectBytes, expectInteger, expectList } from '../../src/quorum-protocol/bytes.js'
import { decodeIntent, intentId, isAbsent } from '../../src/quorum-protocol/intent.js'
import { BATCH_INTENTS_MAX } from '../../src/quorum-protocol/limits.js'
import { offerSession, openBoot } from '../../src/quorum-protocol/quorum-session.js'
import { type RefusalCode, refusalCode } from '../../src/quorum-protocol/refusal.js'
import type { RegistryHolder } from '../../src/quorum-protocol/registry-holder.js'
import { createSealer, type ShareSealer } from '../../src/quorum-protocol/sealed-shares.js'
import type { Connection } from '../../src/quorum-protocol/server.js'
import { openServiceBoot } from '../../src/quorum-protocol/service-boot.js'
import type { QuorumApprovals } from './quorum-approvals.js'
import { AUTHORIZERS } from './quorum-approvals.js'
import type { QuorumFreezes } from './quorum-freezes.js'
import type { QuorumGrants } from './quorum-grants.js'
import { type QuorumWallets, SIGNERS } from './quorum-keys.js'
import type { Draw } from './random.js'
import type { Scheduler } from './scheduler.js'
import { UserSideLedger } from './user-side-ledger.js'

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
  readonly wrong: (what: string) => void
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

const FLUSH_MS_MAX = 8
const LANES = { lanesAtOnce: 65_536, laneEveryMs: 1_000 }

/** The identity provider's vault as far as it approves: its own code for starts, lanes and batches. */
export class UserSide {
  /** Of intents that the evidence has on disk as approved. */
  readonly #proved = new Set<string>()
  readonly #ports: UserSidePorts
  readonly #ledger: UserSideLedger
  readonly #lanes: ReturnType<typeof createLanes>
  readonly #boots: ReturnType<typeof createServiceBoots>
  #sealer: ShareSealer | null = null
  #flushedMs = 0

  constructor(ports: UserSidePorts) {
    this.#ports = ports
    this.#ledger = new UserSideLedger(ports.approvals, () => this.#flush())
    const elapsedMs = () => ports.scheduler.nowMs - ports.scheduler.startMs
    this.#lanes = createLanes(this.#ledger, { ...LANES, elapsedMs })
    this.#boots = createServiceBoots(this.#ledger, this.#lanes)
  }

  /** Whether a start after a crash would know that it approved an intent. */
  hasProved(id: Uint8Array): boolean {
    return this.#proved.has(nameOf(id))
  }

  async serve(method: string, parameters: readonly unknown[], connection: Connection) {
    const { registry, grants, scheduler } = this.#ports
    if (method === 'hello') return this.#hello(parameters, connection)
    this.#boots.requireServed(connection)
    switch (method) {
      case 'session': {
        const boot = openBoot(expectBytes(parameters[0]), registry.current, scheduler.nowMs)
        const { offer, session } = await offerSession(boot, 'user', SIGNERS.user)
        this.#boots.requireServed(connection)
        this.#sealer = createSealer(session)
        return offer
      }
      case 'grant-get':
        return grants.referenceOf(expectBytes(parameters[0], 16))
      case 'approve':
        return this.#approve(parameters)
      default:
        throw new Error(`the user side has no ${method}`)
    }
  }

  async #hello([, , lastApproved, statement]: readonly unknown[], connection: Connection) {
    const { registry, scheduler } = this.#ports
    const start = openServiceBoot(expectList(statement, 3), registry.current, scheduler.nowMs)
    await this.#boots.admit(start, connection)
    const remembered = this.#ledger.highestIn(laneOf(expectInteger(lastApproved)))
    this.#boots.requireServed(connection)
    return [await this.#lanes.next(), remembered]
  }

  async #approve(parameters: readonly unknown[]) {
    const { registry, wallets, grants, freezes, approvesEarly, scheduler, wrong } = this.#ports
    const append = (entry: EvidenceEntry) => this.#append(entry)
    const context = {
      registry: registry.current,
      shares: wallets.sharesOf('user'),
      ...{ ledger: this.#ledger, lanes: this.#lanes, grants, freezes },
      // Nobody was invited: each authorizer counts as a person.
      persons: createPersons({ members: () => null }, { setOf: () => AUTHORIZERS }),
      ...{ signer: SIGNERS.user, sealer: this.#sealer },
      evidence: {
        async append(entry: EvidenceEntry) {
          const written = append(entry)
          if (!approvesEarly) await written
        },
      },
    }
    const answer = await approveBatch(parameters, context, scheduler.nowMs)
    const intents = expectList(parameters[1], BATCH_INTENTS_MAX)
    for (const [index, refused] of answer[3].entries()) {
      if (refused === null) continue
      // A replacement may want more gas than was approved: nobody else knows how much that was.
      const { replaces } = decodeIntent(expectBytes(intents[index]))
      const code = refusalCode(refused[0])
      if (isAbsent(replaces) && NEVER_ASKED.has(code)) wrong(`a signature was asked for: ${code}`)
    }
    return answer
  }

  async #append({ body }: EvidenceEntry): Promise<void> {
    await this.#flush()
    const { intents, bitmap } = decodeBatchEvidence(body)
    for (const [index, encoded] of intents.entries()) {
      if (hasBit(bitmap, index)) this.#proved.add(nameOf(intentId(encoded)))
    }
  }

  #flush(): Promise<void> {
    const { scheduler, draw } = this.#ports
    this.#flushedMs = Math.max(this.#flushedMs, scheduler.nowMs + draw.integer(FLUSH_MS_MAX + 1))
    return new Promise((resolve) => scheduler.at(this.#flushedMs, resolve))
  }
}

function nameOf(id: Uint8Array): string {
  return Buffer.from(id).toString('hex')
}
