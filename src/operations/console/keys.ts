import { isDeepStrictEqual } from 'node:util'
import type { Successor } from '../../../actors/sub-wallet/messages.js'
import { enlargements, type GrantTerms } from '../../custody/authorizers/grant-statement.js'
import { deriveProofKey } from '../../custody/key-proof.js'
import type { ApiKey } from '../../domain/api-key.js'
import { keyExpiresAtMs, keyStatus } from '../../domain/api-key.js'
import { CHAIN_IDS, isChainId } from '../../domain/chain.js'
import { ID_PREFIX, type KeyId, type LineageId, type SubWalletId } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import { type Fault, fault } from '../../errors/fault.js'
import { newId } from '../../store/new-id.js'
import type { ConsoleHandlers } from '../context.js'
import { CUSTODY_DESK, type OperationPorts } from '../ports.js'
import { type EnlargedGrant, enlargeGrant, grantOf, termsOf } from './enlarge-grant.js'
import { newKeySecret } from './key-secret.js'
import { ownedKey, ownedWallet } from './ownership.js'
import { pageOptions } from './page.js'
import { capMicros, keyView } from './views.js'

/**
 * The key's grant is registered at the identity provider before the key exists here: a crash in
 * between leaves a grant that no secret can use.
 */
export function createKey(ports: OperationPorts): ConsoleHandlers['create_key'] {
  const { reader, actors, environment, nowMs } = ports
  return async (context, { authorization, ...input }) => {
    const chains = input.allowed_chains ?? [...CHAIN_IDS]
    const unsupported = unsupportedChain(chains)
    if (unsupported !== null) return { ok: false, fault: unsupported }
    const wallet = ownedWallet(reader, context.userId, input.sub_wallet_id)
    if (!wallet.ok) return wallet
    const subWalletId = wallet.value.subWalletId
    const granted = await enlargeGrant(ports, context, {
      operation: 'create_key',
      input,
      authorization,
      enlarges: [],
      draft: () => {
        const { secret, ...secretFields } = newKeySecret(environment)
        const keyId = newId<KeyId>(ID_PREFIX.key)
        const key: ApiKey = {
          keyId,
          lineageId: keyId as string as LineageId,
          subWalletId,
          userId: context.userId,
          name: input.name,
          permission: input.permission,
          dailyLimitMicros: capMicros(input.daily_limit_usd),
          monthlyLimitMicros: capMicros(input.monthly_limit_usd),
          allowedChains: [...new Set(chains)],
          environment,
          unpricedAssets: input.unpriced_assets ?? 'deny',
          duplicateGuard: input.duplicate_guard ?? 'off',
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
    const { requestId } = context
    const stored = await actors.ask(walletOf(key), { type: 'register-key', key, requestId })
    if (!stored.ok) return stored
    ports.forgetKey(key.secretHash)
    const view = keyView(key, null, nowMs())
    const value = { ...view, authorized_by: authorizedBy, secret: secret ?? '' }
    return { ok: true, status: 201, value }
  }
}

export function listKeys(ports: OperationPorts): ConsoleHandlers['list_keys'] {
  const { reader, nowMs } = ports
  return ({ userId }, input) => {
    const { items, nextCursor } = reader.keysOfUser(userId, pageOptions(input))
    const now = nowMs()
    const keys = items.map((key) => keyView(key, ports.keyLastUsedAtMs(key.keyId), now))
    return { ok: true, value: { keys, next_cursor: nextCursor } }
  }
}

export function rotateKey(ports: OperationPorts): ConsoleHandlers['rotate_key'] {
  const { reader, actors, environment, nowMs } = ports
  return async (context, { key_id }) => {
    const owned = ownedKey(reader, context.userId, key_id)
    if (!owned.ok) return owned
    if (keyStatus(owned.value, nowMs()) !== 'active') {
      return { ok: false, fault: notActive(owned.value, nowMs()) }
    }
    const { secret, secretHash, secretPrefix } = newKeySecret(environment)
    const successor: Successor = { keyId: newId<KeyId>(ID_PREFIX.key), secretHash, secretPrefix }
    const next: ApiKey = { ...owned.value, ...successor }
    const granted = await actors.ask(CUSTODY_DESK, {
      type: 'put-grant',
      grant: {
        ...grantOf(next, context, deriveProofKey(secret)),
        rotatedFrom: owned.value.keyId,
      },
    })
    if (!granted.ok) return granted
    const { requestId } = context
    const { keyId } = owned.value
    const command = { type: 'rotate-key', keyId, successor, requestId, nowMs: nowMs() }
    const rotated = await actors.ask(walletOf(owned.value), command)
    if (!rotated.ok) return rotated
    const { key, previous } = rotated.value as { key: ApiKey; previous: ApiKey }
    ports.forgetKey(previous.secretHash)
    ports.forgetKey(key.secretHash)
    return {
      ok: true,
      value: {
        ...keyView(key, null, nowMs()),
        secret,
        previous: {
          key_id: previous.keyId,
          expires_at: isoTime(keyExpiresAtMs(previous) ?? nowMs()),
        },
      },
    }
  }
}

/** Ends the key here first: a revocation must not wait for the identity provider. */
export function revokeKey(ports: OperationPorts): ConsoleHandlers['revoke_key'] {
  const { reader, actors, nowMs } = ports
  return async (context, { key_id }) => {
    const owned = ownedKey(reader, context.userId, key_id)
    if (!owned.ok) return owned
    const { requestId } = context
    const { keyId } = owned.value
    const command = { type: 'revoke-key', keyId, requestId, nowMs: nowMs() }
    const revoked = await actors.ask(walletOf(owned.value), command)
    ports.forgetKey(owned.value.secretHash)
    if (!revoked.ok) return revoked
    const key = revoked.value as ApiKey
    await actors.ask(CUSTODY_DESK, { type: 'put-grant', grant: grantOf(key, context, null) })
    return { ok: true, value: keyView(key, ports.keyLastUsedAtMs(key.keyId), nowMs()) }
  }
}

export function patchKey(ports: OperationPorts): ConsoleHandlers['patch_key'] {
  const { reader, actors, nowMs } = ports
  return async (context, { authorization, ...input }) => {
    const owned = ownedKey(reader, context.userId, input.key_id)
    if (!owned.ok) return owned
    const unsupported = unsupportedChain(input.allowed_chains ?? [])
    if (unsupported !== null) return { ok: false, fault: unsupported }
    const patch = {
      ...(input.name === undefined ? {} : { name: input.name }),
      ...(input.daily_limit_usd === undefined
        ? {}
        : { dailyLimitMicros: capMicros(input.daily_limit_usd) }),
      ...(input.monthly_limit_usd === undefined
        ? {}
        : { monthlyLimitMicros: capMicros(input.monthly_limit_usd) }),
      ...(input.allowed_chains === undefined
        ? {}
        : { allowedChains: [...new Set(input.allowed_chains)] }),
      ...(input.unpriced_assets === undefined ? {} : { unpricedAssets: input.unpriced_assets }),
      ...(input.duplicate_guard === undefined ? {} : { duplicateGuard: input.duplicate_guard }),
    }
    const next: ApiKey = { ...owned.value, ...patch }
    const enlarges = enlargements(grantTerms(owned.value), grantTerms(next))
    let authorizedBy: EnlargedGrant['authorizedBy'] | null = null
    if (enlarges.length > 0) {
      const draft = () => ({ key: next, secret: null })
      const wanted = { operation: 'patch_key' as const, input, authorization, enlarges, draft }
      const granted = await enlargeGrant(ports, context, wanted)
      if (!granted.ok) return granted
      authorizedBy = granted.value.authorizedBy
    }
    const { requestId } = context
    const { keyId } = owned.value
    const command = { type: 'patch-key', keyId, patch, requestId, nowMs: nowMs() }
    const patched = await actors.ask(walletOf(owned.value), command)
    ports.forgetKey(owned.value.secretHash)
    if (!patched.ok) return patched
    const key = patched.value as ApiKey
    if (enlarges.length === 0 && !isDeepStrictEqual(grantTerms(owned.value), grantTerms(key))) {
      // Taken away here first: it must not wait for the identity provider.
      await actors.ask(CUSTODY_DESK, { type: 'put-grant', grant: grantOf(key, context, null) })
    }
    const view = keyView(key, ports.keyLastUsedAtMs(key.keyId), nowMs())
    return {
      ok: true,
      value: { ...view, ...(authorizedBy === null ? {} : { authorized_by: authorizedBy }) },
    }
  }
}

function grantTerms(key: ApiKey): GrantTerms {
  const chains = [...key.allowedChains].sort((a, b) => a - b)
  return { ...termsOf(key), chains, expiresAtMs: null }
}

function walletOf(key: ApiKey): { kind: 'sub-wallet'; id: SubWalletId } {
  return { kind: 'sub-wallet', id: key.subWalletId }
}

function unsupportedChain(chains: readonly number[]): Fault | null {
  const wrong = chains.find((chainId) => !isChainId(chainId))
  if (wrong === undefined) return null
  return fault('CHAIN_NOT_SUPPORTED', { chain_id: wrong, supported_chains: [...CHAIN_IDS] })
}

function notActive(key: ApiKey, nowMs: number): Fault {
  return fault(
    'INVALID_REQUEST',
    { key_id: key.keyId, status: keyStatus(key, nowMs) },
    'Only an active key can be rotated; rotate its successor, or issue a new key.',
  )
}
