import type { Logger } from 'pino'
import type { LinkListenerSettings } from '../../config/identity-link.js'
import { openAuthorizerStore } from '../../custody/authorizers/authorizer-store.js'
import { encodeEntry } from '../../custody/authorizers/certificate.js'
import { followRegistry } from '../../custody/domain-keys/follow-registry.js'
import {
  identityProviderSocket,
  registryPath,
  softwareAuthorizerPath,
  userSideLayout,
} from '../../custody/domain-keys/layout.js'
import { refuseHalfRestored, refuseUnfenced } from '../../custody/domain-keys/pending-restore.js'
import { openRegistryFile } from '../../custody/domain-keys/registry-file.js'
import { openShareStore } from '../../custody/domain-keys/share-store.js'
import { openEvidenceLog } from '../../custody/evidence/evidence-log.js'
import { followInstanceFreeze, instanceFreezePath } from '../../custody/instance-freeze.js'
import { chooseSigner } from '../../custody/key-stores/choose-signer.js'
import { type FileKeys, openKeyStore } from '../../custody/key-stores/open-key-store.js'
import { readWrappingKeys } from '../../custody/key-stores/wrapping-key.js'
import { createPersons } from '../../custody/members/persons.js'
import { watchFreeSpace } from '../../disk/free-space.js'
import type { Cell } from '../../domain/cells.js'
import type { GrantTerms } from '../../domain/grant-terms.js'
import { listenOnLink } from '../../link/link-listener.js'
import { laneOf } from '../../quorum-protocol/batch.js'
import { ENTRIES_PER_ANSWER } from '../../quorum-protocol/methods/authorizers.js'
import { handlersOf } from '../../quorum-protocol/methods/method.js'
import { USER_SIDE } from '../../quorum-protocol/methods/user-side.js'
import { offerSession, openBoot } from '../../quorum-protocol/quorum-session.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { WebAuthnPins } from '../../quorum-protocol/registry.js'
import { createSealer, type ShareSealer } from '../../quorum-protocol/sealed-shares.js'
import { type Connection, serveSocket } from '../../quorum-protocol/server.js'
import { openServiceBoot } from '../../quorum-protocol/service-boot.js'
import type { SocketAccess } from '../../quorum-protocol/socket-access.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { type AuthorizerCeremonies, createAuthorizerCeremonies } from '../authorizers/ceremonies.js'
import { createRecordedAuthorizers } from '../authorizers/recorded-authorizers.js'
import type { Settling } from '../journal/hold-answers.js'
import type { VaultMetrics } from '../metrics/vault-metrics.js'
import { readAsked } from './approval-request.js'
import { createApprovals, type UserSideApprovals } from './approvals.js'
import { approveBatch } from './approve-batch.js'
import { createAuthorizer, openSoftwareAuthorizer } from './authorizer.js'
import { catchUp } from './catch-up.js'
import { createTokenVerifier, type TokenIssuer } from './console-token.js'
import { createFreezes } from './freezes.js'
import { termsIn } from './granted.js'
import { createGrants } from './grants.js'
import { createLanes } from './lanes.js'
import { openLedgerStore } from './ledger-store.js'
import { membersChanged, membersOf } from './member-answers.js'
import { createMemberRequests, type People } from './member-requests.js'
import { createMembers, type Members } from './members.js'
import { settleOwed } from './owed-evidence.js'
import { requireUserOf } from './own-cell.js'
import { createRecordedChanges } from './recorded-changes.js'
import { createServiceBoots } from './service-boots.js'
import { SERVICE_PEERS } from './service-peers.js'
import { createShareRefresh } from './share-refresh.js'
import { createWalletKeygen } from './wallet-keygen.js'

interface VaultOptions {
  readonly home: string
  readonly mode: 'dev' | 'live'
  readonly fileKeys: FileKeys
  readonly socketAccess: SocketAccess
  /** Null when no wallet service on another machine is served. */
  readonly link: LinkListenerSettings | null
  readonly tokens: TokenIssuer
  /** Null when another provider signs people in. */
  readonly people: People | null
  /** With less free space nothing is approved. */
  readonly diskFloorBytes: number
  readonly metrics: VaultMetrics
  /** The journal that answers wait for; null without one. */
  readonly journal: Settling | null
  readonly log: Logger
  /** Called when the evidence cannot be written: the process has to restart. */
  readonly onBroken: (error: Error) => void
}

export interface Vault {
  readonly authorizers: AuthorizerCeremonies
  readonly approvals: UserSideApprovals
  readonly members: Pick<Members, 'roleOf' | 'membershipsOf'>
  /**
   * Returns what a key may do now; null for an unknown key, or an account that the person may not
   * see.
   */
  readonly termsOf: (keyId: Uint8Array, personId: string) => GrantTerms | null
  /** The origins of passkeys as the root signed them; null when passkeys are not accepted. */
  readonly webauthn: () => WebAuthnPins | null
  close(): Promise<void>
}

/**
 * Opens the identity provider's shares, grants and ledgers, and serves the wallet service on a Unix
 * socket, or from another machine over its link.
 * @throws Error when keys or registry are missing or do not belong together
 */
export async function startVault(options: VaultOptions): Promise<Vault> {
  const { home, mode, log } = options
  const layout = userSideLayout(home)
  refuseHalfRestored(layout)
  refuseUnfenced(layout)
  const registry = openRegistryFile(registryPath(home), layout.rootKey, mode)
  const keyStore = await openKeyStore(layout.keys, options.fileKeys)
  const signer = await chooseSigner(keyStore, 'approvers', registry.current, Date.now())
  const wrappingKeys = await readWrappingKeys(layout.wrappingKey, keyStore)
  const shares = openShareStore('user', layout, wrappingKeys)
  const evidence = openEvidenceLog(layout.evidence, 0, options.onBroken)
  const ledger = openLedgerStore(layout.ledger, evidence)
  await catchUp(ledger, evidence, layout.evidence, Date.now())
  const store = openAuthorizerStore(layout.ledger)
  await settleOwed({ ledger, authorizers: store }, evidence)
  const changes = createRecordedChanges(ledger, evidence)
  const recorded = createRecordedAuthorizers(store, evidence)
  const software = mode === 'dev' ? openSoftwareAuthorizer(softwareAuthorizerPath(home)) : null
  const persons = createPersons(ledger, store)
  const authorizer = createAuthorizer(store, persons, registry, software)
  log.warn(authorizer.announcement)
  const members = createMembers(ledger, authorizer, changes)
  const authorizers = createAuthorizerCeremonies({ store, recorded, persons, registry, signer })
  const grants = createGrants(ledger, shares, authorizer, persons, changes)
  const instance = followInstanceFreeze(instanceFreezePath(home, 'user'), (freezing) =>
    log.warn({ frozen: freezing }, freezing === null ? 'signing goes on' : 'nothing new is signed'),
  )
  const freezes = createFreezes(ledger, shares, authorizer, persons, changes, instance.current)
  const approvals = createApprovals({
    ...{ ledger, shares, grants, authorizers: store, persons, authorizer, registry, evidence },
  })
  const disk = await watchFreeSpace({
    path: layout.ledger,
    floorBytes: options.diskFloorBytes,
    log,
  })
  options.metrics.watch({ disk, frozen: () => instance.current() !== null })
  const holderOf = createTokenVerifier(options.tokens)
  const memberRequests = createMemberRequests(members, options.people, holderOf)
  const keygen = createWalletKeygen()
  const refresh = createShareRefresh()
  const lanes = createLanes(ledger)
  const boots = createServiceBoots(
    ledger,
    lanes,
    (kid) => kid === null || registry.current.keyById('co_signers', kid, Date.now()) !== null,
  )
  /** One per cell, by its number, because each cell's service has its own quorum signer. */
  const sealers = new Map<number, ShareSealer>()

  /** Decisions are written to the ledger and the evidence; neither may run out of space halfway. */
  function requireSpace(): void {
    if (disk.low) throw new Refusal('NO_SPACE', 'too little space is free')
  }

  function keygenContext(cell: Cell) {
    const sealer = sealers.get(cell.number) ?? null
    return { cell, registry: registry.current, shares, signer, sealer, evidence }
  }

  /** Checks the cell of a waiting call, since the request names no user. */
  function requireApprovalOf(cell: Cell, approvalId: Uint8Array): void {
    const asked = ledger.approvals.approval(approvalId)
    if (asked !== null) requireUserOf(cell, asked.userId)
  }

  /** Another identity provider may lead by now; a decision made here would be lost. */
  function requireOwner(connection: Connection): void {
    if (options.journal?.isLeader() !== false) return
    connection.end()
    throw new Refusal('NO_SESSION', 'another node may lead the journal by now')
  }

  /** Serves only the present start: not one that was taken over, nor one that is not announced. */
  function servedCell(connection: Connection): Cell {
    requireOwner(connection)
    return boots.requireServed(connection)
  }

  const gates = {
    leader(connection: Connection) {
      requireOwner(connection)
      return null
    },
    served: servedCell,
    'served-with-space'(connection: Connection) {
      const cell = servedCell(connection)
      requireSpace()
      return cell
    },
  }
  const handlers = handlersOf(USER_SIDE, gates, {
    // The caller moves on to the node that leads.
    ping: () => null,
    async hello({ registryBody, registrySignature, lastApproved, statement }, connection) {
      registry.offer({ body: registryBody, signature: registrySignature })
      const start = openServiceBoot(statement, registry.current, Date.now())
      await boots.admit(start, connection)
      const remembered = ledger.highestIn(laneOf(lastApproved))
      const { number } = boots.requireServed(connection)
      return { lane: await lanes.next(number), remembered }
    },
    async session({ quorumBoot }, connection) {
      const boot = openBoot(quorumBoot, registry.current, Date.now())
      const { offer, session } = await offerSession(boot, 'user', signer)
      // Shared by all connections of the cell: another start may have taken over in between.
      sealers.set(boots.requireServed(connection).number, createSealer(session))
      return offer
    },
    approve(batch, _connection, cell) {
      const context = { ...keygenContext(cell), ledger, lanes, grants, freezes, persons }
      return options.metrics.batch(approveBatch(batch, context, Date.now()))
    },
    'grant-get': ({ keyId }) => grants.reference(keyId),
    async 'grant-put'(request, connection, cell) {
      requireUserOf(cell, request.userId)
      // Changes that only take away are accepted without space.
      if (!request.revoked) requireSpace()
      const holder = request.consoleToken === '' ? null : await holderOf(request.consoleToken)
      boots.requireServed(connection)
      return grants.put(request, holder)
    },
    'authorizers-get': ({ ownerHash, after }) =>
      store.entriesAfter(ownerHash, after).slice(0, ENTRIES_PER_ANSWER).map(encodeEntry),
    'proof-get': ({ challenge }) => authorizers.proofLeft(challenge),
    'freeze-put'(request) {
      // Repeating a freeze takes nothing more away, but needs space each time.
      if (freezes.row(request).sinceMs !== null) requireSpace()
      return freezes.freeze(request)
    },
    'freeze-get': (subject) => freezes.row(subject),
    async 'freeze-lift'({ consoleToken, ...request }, connection, cell) {
      requireUserOf(cell, request.userId)
      const holder = await holderOf(consoleToken)
      boots.requireServed(connection)
      return freezes.unfreeze(request, holder)
    },
    async 'approval-ask'(request, _connection, cell) {
      const asked = readAsked(request)
      requireUserOf(cell, asked.userId)
      await approvals.ask(asked)
      return null
    },
    async 'approval-give'({ approvalId, proof, consoleToken }, connection, cell) {
      requireApprovalOf(cell, approvalId)
      const holder = consoleToken === '' ? null : await holderOf(consoleToken)
      boots.requireServed(connection)
      const { personId, accountId } = holder ?? { personId: null, accountId: null }
      return approvals.approve(approvalId, proof, { personId, accountId, at: 'service' })
    },
    async 'approval-end'({ approvalId, as }, _connection, cell) {
      requireApprovalOf(cell, approvalId)
      await approvals.end(approvalId, as)
      return null
    },
    'approval-decisions': ({ after }) =>
      approvals.decisionsAfter(after).map(([number, decision]) => ({ number, ...decision })),
    'member-plan': (fields) => memberRequests.plan(fields),
    'member-put': (fields, connection) =>
      memberRequests.put(fields, (action) => {
        // Changes that only take away are accepted without space.
        if (action !== 'remove') requireSpace()
        boots.requireServed(connection)
      }),
    'members-changed': (fields) => membersChanged(fields, ledger),
    'members-get': (fields) => membersOf(fields, ledger),
    'keygen-commit': (fields, _connection, cell) => keygen.commit(fields, keygenContext(cell)),
    'keygen-reveal': (fields) => keygen.reveal(fields),
    'keygen-prove': (fields, _connection, cell) => keygen.prove(fields, keygenContext(cell)),
    'keygen-certify': (fields, _connection, cell) => keygen.certify(fields, keygenContext(cell)),
    'keygen-status': (fields) => keygen.status(fields, shares),
    'refresh-begin': (fields, _connection, cell) => refresh.begin(fields, keygenContext(cell)),
    'refresh-prepare': (fields, _connection, cell) => refresh.prepare(fields, keygenContext(cell)),
    'refresh-certify': (fields, _connection, cell) => refresh.certify(fields, keygenContext(cell)),
  })
  const { journal } = options
  /** An answer may depend on what another call is still writing to disk. */
  function settled(): Promise<void> | null {
    if (journal === null) return null
    const flushing = ledger.flushing()
    return flushing === null
      ? journal.settled()
      : flushing.then(() => journal.settled() ?? undefined)
  }

  const server = await serveSocket({
    path: identityProviderSocket(home),
    access: options.socketAccess,
    methods: USER_SIDE,
    handlers,
    onFault: (method, error) => log.error({ method, err: error }, 'call failed'),
    settled,
  })
  const link =
    options.link === null
      ? null
      : await listenOnLink({ ...options.link, ...SERVICE_PEERS }, server.serve, log)
  const unfollow = followRegistry(
    registryPath(home),
    registry,
    ({ version }) => log.warn({ version }, 'a newer registry is in force'),
    (error) => log.error({ err: error }, 'registry file rejected; the previous one stays in force'),
  )
  return {
    authorizers,
    members,
    approvals: {
      ...approvals,
      approve(approvalId, proof, by) {
        requireSpace()
        return approvals.approve(approvalId, proof, by)
      },
    },
    termsOf(keyId, personId) {
      const view = grants.view(keyId)
      const ownerHash = view === null ? null : sha256(Buffer.from(view.grant.userId))
      const maySee = ownerHash !== null && persons.may(ownerHash, personId, 'read')
      return view !== null && maySee ? termsIn(view) : null
    },
    webauthn: () => registry.current.webauthn,
    async close() {
      unfollow()
      instance.close()
      disk.close()
      await link?.close()
      await server.close()
      await store.close()
      await ledger.close()
      await evidence.close()
      await shares.close()
      await keyStore.close()
    },
  }
}
