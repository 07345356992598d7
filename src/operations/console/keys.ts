import { CUSTODY_ADDRESS, subWalletAddress } from '../../../actors/addresses.js'
import type { Outdated } from '../../../actors/sub-wallet/core/grant-messages.js'
import type { Successor } from '../../../actors/sub-wallet/core/messages.js'
import type { ConsoleInput, ConsoleOutput } from '../../api/console-operations.js'
import type { ApiKey, KeyPatch } from '../../domain/api-key.js'
import { keyExpiresAtMs } from '../../domain/api-key.js'
import { CHAIN_IDS, isChainId } from '../../domain/chains.js'
import type { CustodyStatus } from '../../domain/grant-change.js'
import { enlargements, grantTermsOf } from '../../domain/grant-terms.js'
import { ID_PREFIX, type KeyId, type LineageId } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import { givenPolicy, INITIAL_POLICY } from '../../domain/key-policy.js'
import { type Fault, fault, ok, type Result, refuse } from '../../errors/fault.js'
import { deriveProofKey } from '../../service-custody/key-proof.js'
import { newId } from '../../store/new-id.js'
import type { ConsoleContext, ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { capsOutOfOrder } from './caps-in-order.js'
import { custodyOf, isOutdated, OUTDATED, underClaim, untilUndisturbed } from './claim-grant.js'
import { type Creation, creationId } from './created-once.js'
import { type EnlargedGrant, enlargeGrant, grantOf } from './enlarge-grant.js'
import { newKeySecret } from './key-secret.js'
import { ownedKey, ownedWallet } from './ownership.js'
import { pageOfKeys } from './page.js'
import { keyView } from './views.js'

const NAMED = { operation: 'create_key', prefix: ID_PREFIX.key } as const

/**
 * Only the hash of the secret is stored, so a person who did not receive the first answer rotates
 * the key.
 */
export function keyCreation(ports: OperationPorts): Creation<ConsoleOutput<'create_key'>> {
  return {
    ...NAMED,
    newestBelow(userId, cursor) {
      const [key] = ports.reader.fresh().keys.ofUser(userId, { limit: 1, cursor }).items
      if (key === undefined) return null
      const custody = ports.reader.grants.statusOf(key.subWalletId, key.keyId)
      const value = { ...shownKey(ports, key, custody), authorized_by: null, secret: null }
      return { id: key.keyId, value }
    },
    isTaken: (id) => ports.reader.keys.byId(id as KeyId) !== undefined,
  }
}

/**
 * The identity provider has the key's grant before the key exists here. A crash in between leaves a
 * grant that no secret can use.
 */
export function createKey(ports: OperationPorts): ConsoleHandlers['create_key'] {
  const { reader, actors, environment, timers, nowMs } = ports
  return async (context, { authorization, ...input }) => {
    const unsupported = unsupportedChain(input.allowed_chains ?? [])
    if (unsupported !== null) return { ok: false, fault: unsupported }
    const disordered = capsOutOfOrder({ ...INITIAL_POLICY, ...givenPolicy(input) })
    if (disordered !== null) return refuse(disordered)
    const named = creationId(NAMED, context, input) as KeyId | null
    const wallet = ownedWallet(reader, context.userId, input.sub_wallet_id)
    if (!wallet.ok) return wallet
    const subWalletId = wallet.value.subWalletId
    const granted = await enlargeGrant(ports, context, {
      operation: 'create_key',
      input,
      authorization,
      enlarges: [],
      draft: () => {
        const { secret, ...secretFields } = newKeySecret(environment, context.userId, timers)
        const keyId = named ?? newId<KeyId>(ID_PREFIX.key, timers)
        const key: ApiKey = {
          keyId,
          lineageId: keyId as string as LineageId,
          subWalletId,
          userId: context.userId,
          name: input.name,
          ...INITIAL_POLICY,
          ...givenPolicy(input),
          ...(input.policy == null ? {} : { policyVersion: 1 }),
          environment,
          ...secretFields,
          createdAtMs: nowMs(),
          rotatedFrom: null,
          rotatedAtMs: null,
          revokedAtMs: null,
        }
        return { key, secret }
      },
    })
    if (!granted.ok) return granted
    const { key, secret, authorizedBy } = granted.value
    const { requestId, personId: byPerson } = context
    const stored = await actors.ask(subWalletAddress(key), {
      type: 'register-key',
      key,
      requestId,
      byPerson,
    })
    if (!stored.ok) return stored
    ports.forgetKey(key.secretHash)
    // An attempt that was abandoned has created it in between, with a secret of its own.
    const isNew = stored.value.secretHash === key.secretHash
    const view = keyView(stored.value, null, 'current', ports.freezes.of(key.userId), nowMs())
    const value = { ...view, authorized_by: authorizedBy, secret: isNew ? secret : null }
    return { ok: true, status: 201, value }
  }
}

export function listKeys(ports: OperationPorts): ConsoleHandlers['list_keys'] {
  const { reader, nowMs } = ports
  return ({ userId }, input) => {
    const now = nowMs()
    const freezes = ports.freezes.of(userId)
    const viewOf = (key: ApiKey) => {
      const custody = reader.grants.statusOf(key.subWalletId, key.keyId)
      return keyView(key, ports.keyLastUsedAtMs(key.keyId), custody, freezes, now)
    }
    if (input.key_id !== undefined) {
      const owned = ownedKey(reader, userId, input.key_id)
      return owned.ok ? ok({ keys: [viewOf(owned.value)], next_cursor: null }) : owned
    }
    const { items, nextCursor } = pageOfKeys(reader, userId, input)
    return ok({ keys: items.map(viewOf), next_cursor: nextCursor })
  }
}

/** The successor's secret is returned only once the identity provider has its grant. */
export function rotateKey(ports: OperationPorts): ConsoleHandlers['rotate_key'] {
  const { reader, nowMs } = ports
  return async (context, { key_id }) => {
    const owned = ownedKey(reader, context.userId, key_id)
    if (!owned.ok) return owned
    const made = await untilUndisturbed(ports, () => makeSuccessor(ports, context, owned.value))
    if (!made.ok) return made
    const { key, previous, secret } = made.value
    ports.forgetKey(previous.secretHash)
    ports.forgetKey(key.secretHash)
    const [custody] = await Promise.all([custodyOf(ports, key), custodyOf(ports, previous)])
    return {
      ok: true,
      value: {
        ...keyView(key, null, custody, ports.freezes.of(key.userId), nowMs()),
        secret,
        previous: {
          key_id: previous.keyId,
          expires_at: isoTime(keyExpiresAtMs(previous) ?? nowMs()),
        },
      },
    }
  }
}

function shownKey(ports: OperationPorts, key: ApiKey, custody: CustodyStatus) {
  const lastUsedAtMs = ports.keyLastUsedAtMs(key.keyId)
  return keyView(key, lastUsedAtMs, custody, ports.freezes.of(key.userId), ports.nowMs())
}

interface Rotated {
  readonly key: ApiKey
  readonly previous: ApiKey
  readonly secret: string
}

function makeSuccessor(
  ports: OperationPorts,
  context: ConsoleContext,
  predecessor: ApiKey,
): Promise<Result<Rotated> | Outdated> {
  const { keyId } = predecessor
  const { actors, environment, timers, nowMs } = ports
  const { secret, secretHash, secretPrefix } = newKeySecret(environment, predecessor.userId, timers)
  const successor: Successor = {
    keyId: newId<KeyId>(ID_PREFIX.key, timers),
    secretHash,
    secretPrefix,
  }
  const of = { keyId: successor.keyId, rotatedFrom: keyId, patch: null }
  return underClaim(ports, predecessor, of, async (claim) => {
    const next: ApiKey = { ...claim.key, ...successor }
    const grant = { ...grantOf(next, context, deriveProofKey(secret)), rotatedFrom: keyId }
    const granted = await claim.ask(() => actors.ask(CUSTODY_ADDRESS, { type: 'put-grant', grant }))
    if (!granted.ok) return granted
    const { claimId } = claim
    const { requestId, personId: byPerson } = context
    const command = {
      type: 'rotate-key',
      keyId,
      successor,
      claimId,
      requestId,
      byPerson,
      nowMs: nowMs(),
    } as const
    const rotated = await claim.commit(command)
    if (!rotated.ok) return rotated
    if (isOutdated(rotated.value)) return OUTDATED
    return ok({ ...rotated.value, secret })
  })
}

/** Ends the key here first, because a revocation must not wait for the identity provider. */
export function revokeKey(ports: OperationPorts): ConsoleHandlers['revoke_key'] {
  const { reader, actors, nowMs } = ports
  return async (context, { key_id }) => {
    const owned = ownedKey(reader, context.userId, key_id)
    if (!owned.ok) return owned
    const { requestId, personId: byPerson } = context
    const { keyId } = owned.value
    const command = { type: 'revoke-key', keyId, requestId, byPerson, nowMs: nowMs() } as const
    const revoked = await actors.ask(subWalletAddress(owned.value), command)
    ports.forgetKey(owned.value.secretHash)
    if (!revoked.ok) return revoked
    const key = revoked.value
    const custody = await custodyOf(ports, key)
    return { ok: true, value: shownKey(ports, key, custody) }
  }
}

/**
 * What the change takes away applies here at once; what it gives, the identity provider accepts
 * first.
 */
export function patchKey(ports: OperationPorts): ConsoleHandlers['patch_key'] {
  const { reader } = ports
  return async (context, input) => {
    const unsupported = unsupportedChain(input.allowed_chains ?? [])
    const made = await untilUndisturbed(ports, async () => {
      const owned = ownedKey(reader, context.userId, input.key_id)
      if (!owned.ok) return owned
      if (unsupported !== null) return refuse(unsupported)
      const next: ApiKey = { ...owned.value, ...patchOf(input) }
      // Keys whose caps are older than this rule may have anything else changed.
      const disordered = changesCaps(input) ? capsOutOfOrder(next) : null
      if (disordered !== null) return refuse(disordered)
      return enlargementsOf(owned.value, next).length === 0
        ? narrowKey(ports, context, owned.value, input)
        : enlargeKey(ports, context, owned.value, input)
    })
    if (!made.ok) return made
    const { key, authorizedBy } = made.value
    ports.forgetKey(key.secretHash)
    const custody = await custodyOf(ports, key)
    const view = shownKey(ports, key, custody)
    return {
      ok: true,
      value: { ...view, ...(authorizedBy === null ? {} : { authorized_by: authorizedBy }) },
    }
  }
}

interface Patched {
  readonly key: ApiKey
  readonly authorizedBy: EnlargedGrant['authorizedBy'] | null
}

async function narrowKey(
  { actors, nowMs }: OperationPorts,
  { requestId, personId: byPerson }: ConsoleContext,
  key: ApiKey,
  input: ConsoleInput<'patch_key'>,
): Promise<Result<Patched> | Outdated> {
  const { keyId } = key
  const patch = patchOf(input)
  const command = {
    type: 'patch-key',
    keyId,
    patch,
    claimId: null,
    requestId,
    byPerson,
    nowMs: nowMs(),
  } as const
  const patched = await actors.ask(subWalletAddress(key), command)
  if (!patched.ok) return patched
  if (isOutdated(patched.value)) return OUTDATED
  return ok({ key: patched.value, authorizedBy: null })
}

function enlargeKey(
  ports: OperationPorts,
  context: ConsoleContext,
  key: ApiKey,
  { authorization, ...input }: ConsoleInput<'patch_key'>,
): Promise<Result<Patched> | Outdated> {
  const { nowMs } = ports
  const { keyId } = key
  const patch = patchOf(input)
  const of = { keyId, rotatedFrom: null, patch }
  return underClaim(ports, key, of, async (claim) => {
    const next: ApiKey = { ...claim.key, ...patch }
    const enlarges = enlargementsOf(claim.key, next)
    if (enlarges.length === 0) return OUTDATED
    const draft = () => ({ key: next, secret: null })
    const wanted = { operation: 'patch_key' as const, input, authorization, enlarges, draft }
    const granted = await claim.ask(() => enlargeGrant(ports, context, wanted))
    if (!granted.ok) return granted
    const { claimId } = claim
    const { requestId, personId: byPerson } = context
    const command = {
      type: 'patch-key',
      keyId,
      patch,
      claimId,
      requestId,
      byPerson,
      nowMs: nowMs(),
    } as const
    const patched = await claim.commit(command)
    if (!patched.ok) return patched
    if (isOutdated(patched.value)) return OUTDATED
    return ok({ key: patched.value, authorizedBy: granted.value.authorizedBy })
  })
}

function changesCaps(input: ConsoleInput<'patch_key'>): boolean {
  return input.daily_limit_usd !== undefined || input.monthly_limit_usd !== undefined
}

function patchOf(input: ConsoleInput<'patch_key'>): KeyPatch {
  const { name } = input
  return { ...givenPolicy(input), ...(name === undefined ? {} : { name }) }
}

/** Whether a change gives the key anything that it does not have. */
export function enlargesKey(key: ApiKey, input: ConsoleInput<'patch_key'>): boolean {
  return enlargementsOf(key, { ...key, ...patchOf(input) }).length > 0
}

function enlargementsOf(before: ApiKey, next: ApiKey) {
  return enlargements(grantTermsOf(before), grantTermsOf(next))
}

function unsupportedChain(chains: readonly number[]): Fault | null {
  const wrong = chains.find((chainId) => !isChainId(chainId))
  if (wrong === undefined) return null
  return fault('CHAIN_NOT_SUPPORTED', { chain_id: wrong, supported_chains: [...CHAIN_IDS] })
}
