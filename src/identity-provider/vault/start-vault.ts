import type { Logger } from 'pino'
import type { LinkListenerSettings } from '../../config/identity-link.js'
import { openAuthorizerStore } from '../../custody/authorizers/authorizer-store.js'
import { encodeEntry } from '../../custody/authorizers/certificate.js'
import { ENTRIES_PER_ANSWER } from '../../custody/authorizers/service-authorizers.js'
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
import { expectBytes, expectInteger, expectList } from '../../quorum-protocol/bytes.js'
import { offerSession, openBoot } from '../../quorum-protocol/quorum-session.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { WebAuthnPins } from '../../quorum-protocol/registry.js'
import { createSealer, type ShareSealer } from '../../quorum-protocol/sealed-shares.js'
import { type Connection, type Handlers, serveSocket } from '../../quorum-protocol/server.js'
import { openServiceBoot } from '../../quorum-protocol/service-boot.js'
import type { SocketAccess } from '../../quorum-protocol/socket-access.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { type AuthorizerCeremonies, createAuthorizerCeremonies } from '../authorizers/ceremonies.js'
import { createRecordedAuthorizers } from '../authorizers/recorded-authorizers.js'
import type { Settling } from '../journal/hold-answers.js'
import type { VaultMetrics } from '../metrics/vault-metrics.js'
import { decisionParts, parseApprove, parseAsked, parseEnd } from './approval-request.js'
import { createApprovals, type UserSideApprovals } from './approvals.js'
import { approveBatch } from './approve-batch.js'
import { createAuthorizer, openSoftwareAuthorizer } from './authorizer.js'
import { catchUp } from './catch-up.js'
import { createTokenVerifier, type TokenIssuer } from './console-token.js'
import { parseFreezeRequest, parseSubject, parseUnfreezeRequest } from './freeze-request.js'
import { createFreezes } from './freezes.js'
import { parseGrantRequest } from './grant-request.js'
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

/** @param cell the cell of the calling service, read when the call begins */
type ServedHandler = (parameters: readonly unknown[], connection: Connection, cell: Cell) => unknown

export interface VaultOptions {
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

  /**
   * Serves only the present start: not one that was taken over, nor one that has not announced
   * itself.
   */
  function served(handlers: Readonly<Record<string, ServedHandler>>): Handlers {
    return Object.fromEntries(
      Object.entries(handlers).map(([method, handler]) => [
        method,
        (parameters: readonly unknown[], connection: Connection) => {
          requireOwner(connection)
          return handler(parameters, connection, boots.requireServed(connection))
        },
      ]),
    )
  }

  const afterHello = served({
    session: async ([statement], connection) => {
      const boot = openBoot(expectBytes(statement), registry.current, Date.now())
      const { offer, session } = await offerSession(boot, 'user', signer)
      // Shared by all connections of the cell: another start may have taken over in between.
      sealers.set(boots.requireServed(connection).number, createSealer(session))
      return offer
    },
    'keygen-commit': (parameters, _connection, cell) => {
      requireSpace()
      return keygen.commit(parameters, keygenContext(cell))
    },
    'keygen-reveal': (parameters) => keygen.reveal(parameters),
    'keygen-prove': (parameters, _connection, cell) =>
      keygen.prove(parameters, keygenContext(cell)),
    'keygen-certify': (parameters, _connection, cell) =>
      keygen.certify(parameters, keygenContext(cell)),
    'keygen-status': (parameters) => keygen.status(parameters, shares),
    'refresh-begin': (parameters, _connection, cell) =>
      refresh.begin(parameters, keygenContext(cell)),
    'refresh-prepare': (parameters, _connection, cell) =>
      refresh.prepare(parameters, keygenContext(cell)),
    'refresh-certify': (parameters, _connection, cell) =>
      refresh.certify(parameters, keygenContext(cell)),
    'grant-put': async (parameters, connection, cell) => {
      const request = parseGrantRequest(parameters)
      requireUserOf(cell, request.userId)
      // Changes that only take away are accepted without space.
      if (!request.revoked) requireSpace()
      const holder = request.consoleToken === '' ? null : await holderOf(request.consoleToken)
      boots.requireServed(connection)
      const { grantId, version, proof } = await grants.put(request, holder)
      return [grantId, version, proof]
    },
    // Freezes only take away, so they are accepted with less space.
    'freeze-put': async (parameters) => {
      const request = parseFreezeRequest(parameters)
      // Repeating a freeze takes nothing more away, but needs space each time.
      if (freezes.row(request).sinceMs !== null) requireSpace()
      const { sequence, sinceMs } = await freezes.freeze(request)
      return [sequence, sinceMs]
    },
    'freeze-get': (parameters) => {
      const { sequence, sinceMs } = freezes.row(parseSubject(parameters))
      return [sequence, sinceMs]
    },
    'freeze-lift': async (parameters, connection, cell) => {
      requireSpace()
      const { consoleToken, ...request } = parseUnfreezeRequest(parameters)
      requireUserOf(cell, request.userId)
      const holder = await holderOf(consoleToken)
      boots.requireServed(connection)
      const { sequence, proof } = await freezes.unfreeze(request, holder)
      return [sequence, proof]
    },
    'member-plan': (parameters) => memberRequests.plan(parameters),
    'member-put': (parameters, connection) =>
      memberRequests.put(parameters, (action) => {
        // Changes that only take away are accepted without space.
        if (action !== 'remove') requireSpace()
        boots.requireServed(connection)
      }),
    'members-changed': (parameters) => membersChanged(parameters, ledger),
    'members-get': (parameters) => membersOf(parameters, ledger),
    'authorizers-get': ([ownerHash, after]) =>
      store
        .entriesAfter(expectBytes(ownerHash, 32), expectInteger(after))
        .slice(0, ENTRIES_PER_ANSWER)
        .map(encodeEntry),
    'proof-get': ([challenge]) => authorizers.proofLeft(expectBytes(challenge, 32)),
    'approval-ask': async (parameters, _connection, cell) => {
      requireSpace()
      const asked = parseAsked(parameters)
      requireUserOf(cell, asked.userId)
      await approvals.ask(asked)
      return null
    },
    'approval-give': async (parameters, connection, cell) => {
      requireSpace()
      const { approvalId, proof, consoleToken } = parseApprove(parameters)
      requireApprovalOf(cell, approvalId)
      const holder = consoleToken === '' ? null : await holderOf(consoleToken)
      boots.requireServed(connection)
      const { personId, accountId } = holder ?? { personId: null, accountId: null }
      const by = { personId, accountId, at: 'service' } as const
      const given = await approvals.approve(approvalId, proof, by)
      return [given.authorizerId, given.proof]
    },
    // Ending an approval only takes away, so it is accepted with less space.
    'approval-end': async (parameters, _connection, cell) => {
      const { approvalId, as } = parseEnd(parameters)
      requireApprovalOf(cell, approvalId)
      await approvals.end(approvalId, as)
      return null
    },
    'approval-decisions': ([after]) =>
      approvals.decisionsAfter(expectInteger(after)).map(decisionParts),
    'grant-get': async ([keyId]) => {
      const { grantId, version } = await grants.reference(expectBytes(keyId, 16))
      return [grantId, version]
    },
    approve: (parameters, _connection, cell) => {
      requireSpace()
      const answering = approveBatch(
        parameters,
        { ...keygenContext(cell), ledger, lanes, grants, freezes, persons },
        Date.now(),
      )
      return options.metrics.batch(answering)
    },
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
    handlers: {
      ...afterHello,
      // The caller then moves on to the node that leads.
      ping: (_parameters, connection) => requireOwner(connection),
      hello: async ([body, signature, lastApproved, statement], connection) => {
        requireOwner(connection)
        registry.offer({ body: expectBytes(body), signature: expectBytes(signature, 64) })
        const start = openServiceBoot(expectList(statement, 3), registry.current, Date.now())
        await boots.admit(start, connection)
        const remembered = ledger.highestIn(laneOf(expectInteger(lastApproved)))
        const { number } = boots.requireServed(connection)
        return [await lanes.next(number), remembered]
      },
    },
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
