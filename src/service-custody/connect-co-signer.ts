import { threadId } from 'node:worker_threads'
import { type Logger, pino } from 'pino'
import { getAddress } from 'viem/utils'
import type { Timers } from '../clock/timers.js'
import { openAuthorizerStore } from '../custody/authorizers/authorizer-store.js'
import { syncAuthorizers } from '../custody/authorizers/service-authorizers.js'
import type { CarriedShares } from '../custody/domain-keys/carried-shares.js'
import { followRegistry } from '../custody/domain-keys/follow-registry.js'
import {
  identityProviderSocket,
  quorumSignerSocket,
  registryPath,
  serviceLayout,
} from '../custody/domain-keys/layout.js'
import { refuseHalfRestored } from '../custody/domain-keys/pending-restore.js'
import { openRegistryFile } from '../custody/domain-keys/registry-file.js'
import { openShareStore, type ShareStore } from '../custody/domain-keys/share-store.js'
import { openEvidenceLog } from '../custody/evidence/evidence-log.js'
import { EVIDENCE_KIND } from '../custody/evidence/stored-evidence.js'
import { chooseSigner } from '../custody/key-stores/choose-signer.js'
import { openKeyStore } from '../custody/key-stores/open-key-store.js'
import { readWrappingKeys } from '../custody/key-stores/wrapping-key.js'
import { openServiceMembers } from '../custody/members/service-members.js'
import { fileKeysOf } from '../custody/process-environment.js'
import { type ApprovalId, type SubWalletId, ulidBytes } from '../domain/ids.js'
import type { Meter } from '../domain/meter.js'
import { FaultError } from '../errors/fault.js'
import { Unanswered } from '../quorum-protocol/client.js'
import type { Endpoint } from '../quorum-protocol/endpoint.js'
import type { WalletKind } from '../quorum-protocol/keygen.js'
import { askUserSide } from '../quorum-protocol/methods/ask.js'
import { codeOf } from '../quorum-protocol/refusal.js'
import type { JournalLeadership } from '../quorum-protocol/service-boot.js'
import { sha256 } from '../quorum-protocol/tagged.js'
import { toHex } from '../quorum-protocol/transaction.js'
import { createRemoteApprovals } from './approvals.js'
import { carryShare } from './carry-share.js'
import type {
  AuthorizerList,
  CoSigner,
  GrantOutcome,
  GrantUpdate,
  WalletCertificate,
} from './co-signer.js'
import { coSignerFault } from './co-signer-fault.js'
import { createConsoleQueue } from './console-queue.js'
import { createWalletKey } from './create-wallet.js'
import { createRemoteFreezes, isStopped } from './freezes.js'
import {
  createGrantAuthority,
  listedAuthorizer,
  managePage,
  ownerHashOf,
} from './grant-authority.js'
import { createGrantReferences } from './grant-references.js'
import { grantRequest } from './grant-request.js'
import { lastBatchSeq } from './last-batch.js'
import { createMemberChanges } from './member-changes.js'
import { createRemoteMembers } from './members.js'
import { failed, takenOver, unavailable } from './outcome.js'
import { linkQuorum } from './quorum-link.js'
import type { QuorumReach } from './quorum-reach.js'
import { finishRefresh } from './refresh-share.js'
import { createSealedText, type SealedText } from './sealed-text.js'
import { createIntentSigner } from './sign-intent.js'
import { createSignPipeline } from './sign-pipeline.js'
import { createSignatureChecks } from './signature-checks.js'
import { switchableSigner } from './switchable-signer.js'

interface CoSignerOptions {
  /** Home directory: this domain's keys and shares, the sockets, the registry. */
  readonly home: string
  readonly mode: 'dev' | 'live'
  /** The identity provider's endpoint; the default is its socket in the home. */
  readonly userSide?: Endpoint
  /** 16 bytes, the same for every thread of one start of the service: `newServiceBoot`. */
  readonly boot: Uint8Array
  /**
   * Set when the service's commits go to a journal. It is announced with the boot, and the boot
   * waits for it: announcing a start ends the start before it.
   */
  readonly leadership?: PromiseLike<JournalLeadership | null> | null
  /** The place for copies of shares; absent when they stay on this machine only. */
  readonly carriedShares?: CarriedShares | null
  /** Called once only `owner` is still awaited. */
  readonly onOpened?: () => void
  /** This must be the machine's clock: the other domains compare what is signed with theirs. */
  readonly timers: Timers
  readonly log?: Logger
  /** Absent when queue lengths are not measured. */
  readonly meter?: Meter
  /** Called when the evidence cannot be written: the process has to restart. */
  readonly onBroken?: (error: Error) => void
}

/** The port, with what only the process that owns the connection needs. */
export interface ConnectedCoSigner extends CoSigner {
  /** Resolves true once both other domains answer, false when the time runs out first. */
  whenReady(timeoutMs: number): Promise<boolean>
  /** Which domains answer now. */
  reach(): QuorumReach
  /** Page of the identity provider on which people decide about a call; null without passkeys. */
  pageOf(approvalId: ApprovalId): string | null
  /** How many intents wait for a batch. */
  readonly waiting: number
  /** Hex of the id of the co-signer key in use. */
  readonly coSignerKid: string
  /** Copies shares to the journal, and adopts those copied from another machine. */
  readonly shares: Pick<ShareStore, 'adopt' | 'marks' | 'uncarried'> & {
    carry(walletId: Uint8Array): Promise<void>
  }
  /** Seals and opens texts under the service's data key. */
  readonly sealedText: SealedText
}

/** Owner of the service's own wallets in their certificates. */
const SERVICE_OWNER = ''

/**
 * Connects this thread to the quorum; each thread that signs has its own connection. It does not
 * wait for the other domains: until they answer, every call is UNAVAILABLE, and the connections
 * recover by themselves.
 * @throws Error when keys or registry are missing or do not belong together
 */
export async function connectCoSigner(options: CoSignerOptions): Promise<ConnectedCoSigner> {
  const { home, mode, timers } = options
  const log = options.log ?? pino({ name: 'co-signer' })
  const layout = serviceLayout(home)
  refuseHalfRestored(layout)
  const registry = openRegistryFile(registryPath(home), layout.rootKey, mode)
  const keyStore = await openKeyStore(layout.keys, fileKeysOf(mode, process.env))
  const choose = () => chooseSigner(keyStore, 'co_signers', registry.current, timers.now())
  const signer = switchableSigner(await choose())
  const wrappingKeys = await readWrappingKeys(layout.wrappingKey, keyStore)
  function broken(error: Error): void {
    log.fatal({ err: error }, 'the evidence cannot be written: this process no longer signs')
    options.onBroken?.(error)
  }
  const evidence = openEvidenceLog(layout.evidence, threadId, broken)
  const shares = openShareStore('service', layout, wrappingKeys, options.carriedShares)
  const recordedSeq = lastBatchSeq(evidence)
  let renew = () => {}
  const unfollow = followRegistry(
    registryPath(home),
    registry,
    ({ version }) => {
      log.warn({ version }, 'a newer registry is in force')
      renew()
    },
    (error) => log.error({ err: error }, 'registry file rejected; the previous one stays in force'),
  )
  options.onOpened?.()
  const leadership = (await options.leadership) ?? null
  // At startup the store may have been empty, because its journal had not filled it yet.
  shares.requireDataKey()
  const link = linkQuorum({
    userSide: options.userSide ?? { path: identityProviderSocket(home) },
    quorumSocket: quorumSignerSocket(home),
    registry,
    signer,
    // The key that the registry names now may differ once the quorum answers.
    renewSigner: async () => signer.use(await choose()),
    ...{ boot: options.boot, leadership },
    timers,
    log,
    approvedFloor: () => Math.max(recordedSeq, pipeline.approvedSeq),
    onLost: () => pipeline.abandon('connection lost'),
  })
  renew = link.renew
  const checks = createSignatureChecks({
    elapsedMs: timers.elapsed,
    onFault: (error) => log.error({ err: error }, 'the thread that checks signatures failed'),
  })
  const grants = createGrantReferences(link.userSide)
  const authorizers = openAuthorizerStore(layout.ledger)
  const known = (personId: string) =>
    syncAuthorizers(ownerHashOf(personId), {
      ...{ userSide: link.userSide, store: authorizers, registry, evidence },
    })
  const book = openServiceMembers(layout.ledger)
  const members = createRemoteMembers({
    ...{ userSide: link.userSide, book, store: authorizers, registry, evidence, known },
  })
  const authority = createGrantAuthority({
    ...{ userSide: link.userSide, store: authorizers, registry, members },
  })
  const freezes = createRemoteFreezes(link.userSide, authority, evidence, timers.now)
  const approvals = createRemoteApprovals({
    ...{ userSide: link.userSide, authority, evidence, members, nowMs: timers.now },
  })
  const changeMember = createMemberChanges(link.userSide, authority, members, timers.now)
  const consoleQueue = createConsoleQueue(timers.elapsed)
  const pipeline = createSignPipeline({
    timers,
    context: () =>
      link.session === null
        ? null
        : { link, session: link.session, shares, signer, evidence, checks, timers },
    onStaleSession: () => link.renew(),
    onFault: (error) => log.error({ err: error }, 'batch failed'),
    ...(options.meter === undefined ? {} : { meter: options.meter }),
  })

  options.meter?.queue('signing', () => pipeline.read())
  options.meter?.queue('signature_checks', () => checks.read())

  const underPresentGrant = createIntentSigner({ shares, grants, pipeline })

  function walletContext() {
    return { link, shares, signer, evidence, registry: registry.current, timers }
  }

  async function create(
    walletId: SubWalletId,
    kind: WalletKind,
    owner: string,
  ): Promise<WalletCertificate> {
    try {
      const record = await createWalletKey(
        { walletId: ulidBytes(walletId), kind, ownerHash: sha256(Buffer.from(owner)) },
        walletContext(),
      )
      return {
        walletId,
        address: getAddress(toHex(record.address)),
        epoch: record.certificate.epoch,
      }
    } catch (error) {
      throw coSignerFault(error)
    }
  }

  async function putGrant(update: GrantUpdate): Promise<GrantOutcome> {
    try {
      const basis = await authority.basisOf(update, timers.now())
      const request = grantRequest(update, basis)
      const accepted = await askUserSide(link.userSide, 'grant-put', request)
      const { grantId, version } = accepted
      grants.remember(ulidBytes(update.keyId), { grantId, version })
      const { authorizedBy, evidence: body } = await authority.accept(update, accepted)
      await evidence.append({ timeMs: timers.now(), kind: EVIDENCE_KIND.grant, body })
      return { authorizedBy }
    } catch (error) {
      throw coSignerFault(error)
    }
  }

  /**
   * Converts what the work throws into a FaultError.
   * @throws FaultError
   */
  async function faulting<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      throw coSignerFault(error)
    }
  }

  async function authorizersOf(userId: string): Promise<AuthorizerList> {
    try {
      const { active } = await known(userId)
      return {
        authorizers: active.map(listedAuthorizer),
        manageUrl: managePage(registry.current.webauthn),
      }
    } catch (error) {
      throw coSignerFault(error)
    }
  }

  /** @throws FaultError once a later start of the service has taken over */
  function requireServed(): void {
    if (link.fenced) throw new FaultError(takenOver('fenced'))
  }

  async function atConsole<T>(line: string, work: () => Promise<T>): Promise<T> {
    requireServed()
    return consoleQueue.run(line, () => {
      requireServed()
      return work()
    })
  }

  return {
    createWallet: (walletId, userId) => atConsole(userId, () => create(walletId, 'user', userId)),
    createServiceWallet: (walletId) =>
      atConsole(SERVICE_OWNER, () => create(walletId, 'service', SERVICE_OWNER)),
    async sign(request) {
      if (link.session === null) {
        return link.fenced ? failed('FENCED') : unavailable('quorum incomplete')
      }
      try {
        const outcome = await underPresentGrant(request)
        if (outcome.ok) return outcome
        if (outcome.detail === 'WRONG_EPOCH') {
          // A refresh of the shares skipped this thread or stopped halfway.
          await finishRefresh(ulidBytes(request.walletId), walletContext())
          return await underPresentGrant(request)
        }
        if (outcome.detail === 'APPROVAL_MISSING' && request.approval !== undefined) {
          await approvals.tellProofs(request.approval)
          return await underPresentGrant(request)
        }
        return outcome
      } catch (error) {
        if (error instanceof Unanswered) return unavailable(error.message)
        if (codeOf(error) === 'INTERNAL' && !(error instanceof RangeError)) {
          log.error({ err: error, sub_wallet_id: request.walletId }, 'cannot sign')
        }
        // A payload that cannot be encoded is that caller's mistake and affects no other.
        return failed(error instanceof RangeError ? 'MALFORMED' : codeOf(error))
      }
    },
    putGrant: (update) => atConsole(lineOf(update), () => putGrant(update)),
    freeze: (frozen) =>
      atConsole(`narrows ${frozen.userId}`, () => faulting(freezes.freeze(frozen))),
    unfreeze: (update) => atConsole(update.userId, () => faulting(freezes.unfreeze(update))),
    registerApproval: (registration) =>
      atConsole(`approvals ${registration.userId}`, () =>
        faulting(approvals.register(registration)),
      ),
    approve: (update) => atConsole(update.userId, () => faulting(approvals.approve(update))),
    endApproval: (ended) => faulting(approvals.end(ended)),
    approvalDecisions: (after) => faulting(approvals.decisions(after)),
    followMembers: () => faulting(members.follow()),
    changeMember: (update) => atConsole(update.askedBy, () => faulting(changeMember(update))),
    refuseWaiting: (stopped, { scope, sinceMs }) =>
      pipeline.refuse(isStopped(stopped), { ...failed('FROZEN'), frozen: { scope, sinceMs } }),
    pageOf(approvalId) {
      const page = managePage(registry.current.webauthn)
      return page === null ? null : new URL(`/approve/${approvalId}`, page).href
    },
    authorizersOf: (userId) => atConsole(userId, () => authorizersOf(userId)),
    get ready() {
      return link.session !== null
    },
    reach: () => ({
      identityProvider: link.userSide.answering,
      quorumSigner: link.quorum.answering,
      complete: link.session !== null,
      fenced: link.fenced,
    }),
    get waiting() {
      return pipeline.waiting
    },
    get coSignerKid() {
      return signer.kid.toString('hex')
    },
    shares: { ...shares, carry: (walletId) => carryShare(walletId, walletContext()) },
    sealedText: createSealedText(shares.dataKeys),
    whenReady: (timeoutMs) => link.whenReady(timeoutMs),
    async close() {
      unfollow()
      link.close()
      pipeline.abandon('closing')
      await checks.close()
      await shares.close()
      await book.close()
      await authorizers.close()
      await evidence.close()
      await keyStore.close()
    },
  }
}

/**
 * Names the queue of a change. Revocations have their own queue, so that a user's new keys never
 * delay them. Keys made by keys have another: agents never delay what a person confirms.
 */
function lineOf({ userId, effect, madeBy }: GrantUpdate): string {
  if (madeBy !== undefined) return `makes ${userId}`
  return effect === 'narrows' ? `narrows ${userId}` : userId
}
