import { CUSTODY_ADDRESS, subWalletAddress } from '../../../actors/addresses.js'
import type { OperationInput } from '../../api/operations.js'
import type { ApiKey } from '../../domain/api-key.js'
import { CHAIN_IDS, isChainId } from '../../domain/chains.js'
import { grantedOf } from '../../domain/grant-terms.js'
import { ID_PREFIX, type KeyId, type LineageId } from '../../domain/ids.js'
import { parseIsoTime } from '../../domain/iso-time.js'
import { givenPolicy, INITIAL_POLICY } from '../../domain/key-policy.js'
import { fault, type Result, refuse } from '../../errors/fault.js'
import { ofRead } from '../../errors/outcome-unknown.js'
import type { GrantUpdate } from '../../service-custody/co-signer.js'
import { deriveProofKey } from '../../service-custody/key-proof.js'
import { newId } from '../../store/new-id.js'
import { capsOutOfOrder } from '../console/caps-in-order.js'
import { newKeySecret } from '../console/key-secret.js'
import { keyView } from '../console/views.js'
import type { AgentContext, AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'

/**
 * Creates a key that a key makes for another program, within its own grant. No person confirms it:
 * the wallet's actor and the identity provider each check that it adds nothing. As with a user's
 * key, the identity provider has its grant before the key exists here.
 */
export function createChildKey(ports: OperationPorts): AgentHandlers['create_child_key'] {
  const { actors, nowMs } = ports
  return async (context, input) => {
    const { key: maker, requestId } = context
    const drafted = draftOf(ports, maker, input)
    if (!drafted.ok) return drafted
    const wallet = subWalletAddress(maker)
    const { secret, key: draft } = drafted.value
    const ask = { type: 'plan-sub-key', key: draft, madeBy: maker.keyId, nowMs: nowMs() } as const
    const planned = ofRead(await actors.ask(wallet, ask))
    if (!planned.ok) return planned
    const key = planned.value
    const grant = grantOf(key, context, secret)
    const granted = await actors.ask(CUSTODY_ADDRESS, { type: 'put-grant', grant })
    if (!granted.ok) return granted
    const stored = await actors.ask(wallet, { type: 'register-key', key, requestId })
    if (!stored.ok) return stored
    ports.forgetKey(key.secretHash)
    const view = keyView(key, null, 'current', ports.freezes.of(key.userId), nowMs())
    return { ok: true, status: 201, value: { ...view, secret } }
  }
}

function draftOf(
  { environment, nowMs, timers }: OperationPorts,
  maker: ApiKey,
  input: OperationInput<'create_child_key'>,
): Result<{ readonly key: ApiKey; readonly secret: string }> {
  const wrong = input.allowed_chains.find((chainId) => !isChainId(chainId))
  if (wrong !== undefined) {
    return refuse(
      fault('CHAIN_NOT_SUPPORTED', { chain_id: wrong, supported_chains: [...CHAIN_IDS] }),
    )
  }
  const createdAtMs = nowMs()
  const endsAtMs = parseIsoTime(input.expires_at)
  if (endsAtMs <= createdAtMs) {
    return refuse(fault('INVALID_REQUEST', { field: 'expires_at' }, 'The key would have ended.'))
  }
  const disordered = capsOutOfOrder({ ...INITIAL_POLICY, ...givenPolicy(input) })
  if (disordered !== null) return refuse(disordered)
  const { secret, ...secretFields } = newKeySecret(environment, maker.userId, timers)
  const keyId = newId<KeyId>(ID_PREFIX.key, timers)
  const key: ApiKey = {
    keyId,
    lineageId: keyId as string as LineageId,
    parentLineageId: maker.lineageId,
    subWalletId: maker.subWalletId,
    userId: maker.userId,
    name: input.name,
    ...INITIAL_POLICY,
    // Defaults to the setting of the key that makes it.
    unpricedAssets: maker.unpricedAssets,
    duplicateGuard: maker.duplicateGuard,
    ...givenPolicy(input),
    environment,
    ...secretFields,
    createdAtMs,
    endsAtMs,
    rotatedFrom: null,
    rotatedAtMs: null,
    revokedAtMs: null,
  }
  return { ok: true, value: { key, secret } }
}

function grantOf(key: ApiKey, { key: maker, proofKey }: AgentContext, secret: string): GrantUpdate {
  return {
    ...grantedOf(key),
    keyId: key.keyId,
    rotatedFrom: null,
    walletId: key.subWalletId,
    userId: key.userId,
    proofKey: deriveProofKey(secret),
    expiresAt: key.endsAtMs ?? null,
    revoked: false,
    consoleToken: null,
    parentLineageId: key.parentLineageId,
    madeBy: { keyId: maker.keyId, proofKey },
    effect: 'narrows',
    authorization: null,
  }
}
