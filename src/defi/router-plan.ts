import { encodeFunctionData } from 'viem/utils'
import type { ChainConfig } from '../config/chains.js'
import { delegateDeployment, routerDeployment } from '../contracts/deployment.js'
import agentRouter from '../contracts/generated/agent-router.json' with { type: 'json' }
import { SWAP_SELECTORS, VAULT_SELECTORS } from '../contracts/venue-calls.js'
import type { Address, Hex } from '../domain/ids.js'
import {
  type AllowedCall,
  type CoSignerKey,
  isAmong,
  openRouter,
  type RouterChain,
  type RouterPair,
  UNENDED,
} from './router-reads.js'

/**
 * Plans the transactions that a chain's Router needs, for others to send: its owner is meant to be
 * a cold multi-signature wallet, so this code holds no key and sends nothing. An empty plan means
 * that the chain already matches the policy.
 */
export interface RouterPolicy {
  /** The Router's present owner, whose signature the plan needs. */
  readonly owner: Address
  /** Null leaves them as they are. */
  readonly coSigners: RegisteredCoSigners | null
  /** The gas wallets of this chain. */
  readonly relayers: readonly Address[]
  /** Null leaves it as it is; the same holds for the guardian, who may pause as the owner can. */
  readonly feeRecipient: Address | null
  readonly guardian: Address | null
  readonly allowedCalls: readonly AllowedCall[]
  /** Removed from the Router's lists if they are in them. */
  readonly removedRelayers?: readonly Address[]
  readonly disallowedTargets?: readonly Address[]
}

/** The registry's co-signers. */
export interface RegisteredCoSigners {
  readonly keys: readonly RegisteredKey[]
  /**
   * Whether keys end that it does not name: an older registry would end the keys of new machines.
   */
  readonly endsUnnamed: boolean
  /**
   * Receives the reason why the registry may not be the newest: doubtful keys are left as they are,
   * and everything else is planned.
   */
  doubt(why: string): void
}

export interface RegisteredKey extends CoSignerKey {
  /** Seconds from now; null when the key has no end. */
  readonly endsInSeconds: number | null
}

export interface RouterStep {
  /** One line for a person. */
  readonly what: string
  /** `anyone` may send a deployment; the owner must send everything else. */
  readonly sender: 'anyone' | 'owner'
  readonly to: Address
  readonly data: Hex
}

/**
 * The addresses of Router and delegate, which depend only on the owner and are the same on every
 * chain.
 */
export function routerAddresses(owner: Address): RouterPair {
  const router = routerDeployment(owner).address
  return { router, delegate: delegateDeployment(router).address }
}

/** The calls that a Router must permit for the venues of a chain's configuration, and no others. */
export function allowedCallsOf({ swap, markets }: ChainConfig): AllowedCall[] {
  const swaps =
    swap === null
      ? []
      : SWAP_SELECTORS.map((selector) => ({ target: swap.router as Address, selector }))
  const vaults = markets.flatMap(({ vault }) =>
    VAULT_SELECTORS.map((selector) => ({ target: vault as Address, selector })),
  )
  return [...swaps, ...vaults]
}

/**
 * The two deployments, for addresses without code.
 * @throws FaultError CHAIN_UNAVAILABLE
 */
export async function planDeployment(chain: RouterChain, owner: Address): Promise<RouterStep[]> {
  const router = routerDeployment(owner)
  const delegate = delegateDeployment(router.address)
  const named = [
    { name: 'AgentRouter', deployment: router },
    { name: 'AgentDelegate', deployment: delegate },
  ]
  const steps: RouterStep[] = []
  for (const { name, deployment } of named) {
    const code = await chain.rpc.request<unknown>('eth_getCode', [deployment.address, 'latest'])
    if (code !== '0x') continue
    const what = `deploy ${name} at ${deployment.address}`
    steps.push({ what, sender: 'anyone', ...deployment.transaction })
  }
  return steps
}

/** The longest validity of an intent with the former key (AgentRouter, MAX_LIFETIME). */
export const CO_SIGNER_OVERLAP_SECONDS = 600n
/** `MAX_OVERLAP` of the Router. */
export const CO_SIGNER_OVERLAP_SECONDS_MAX = 3_600

/**
 * The changes that the owner has to make; call it once the Router is deployed.
 * @throws Error when another Router answers at that address, or it has another owner
 */
export async function planConfiguration(
  chain: RouterChain,
  pair: RouterPair,
  policy: RouterPolicy,
): Promise<RouterStep[]> {
  const router = openRouter(chain, pair)
  await router.expectOwner(policy.owner)
  if ((await router.boundTo()) !== pair.router) throw new Error('the delegate obeys another Router')
  const [coSigners, recipient, guardian, missingRelayers, missingCalls, goneRelayers, goneCalls] =
    await Promise.all([
      coSignersOf(router),
      router.feeRecipient(),
      router.guardian(),
      only(policy.relayers, router.isRelayer, false),
      only(policy.allowedCalls, router.isAllowedCall, false),
      only(policy.removedRelayers ?? [], router.isRelayer, true),
      only((policy.disallowedTargets ?? []).flatMap(callsOf), router.isAllowedCall, true),
    ])
  const steps: RouterStep[] = []
  const step = (what: string, data: Hex) =>
    steps.push({ what, sender: 'owner', to: pair.router, data })
  const abi = agentRouter.abi
  if (missingCalls.length > 0) {
    const args = [missingCalls] as const
    step(
      `allow ${missingCalls.length} calls of venues`,
      encodeFunctionData({ abi, functionName: 'allowCalls', args }),
    )
  }
  if (goneCalls.length > 0) {
    const args = [goneCalls] as const
    step(
      `no longer allow ${goneCalls.length} calls of venues`,
      encodeFunctionData({ abi, functionName: 'disallowCalls', args }),
    )
  }
  if (missingRelayers.length > 0) {
    const args = [missingRelayers] as const
    step(
      `add ${missingRelayers.length} relayers`,
      encodeFunctionData({ abi, functionName: 'addRelayers', args }),
    )
  }
  if (goneRelayers.length > 0) {
    const args = [goneRelayers] as const
    step(
      `remove ${goneRelayers.length} relayers`,
      encodeFunctionData({ abi, functionName: 'removeRelayers', args }),
    )
  }
  const { feeRecipient, guardian: wanted } = policy
  if (feeRecipient !== null && recipient !== feeRecipient) {
    step(
      `pay fees to ${feeRecipient}`,
      encodeFunctionData({ abi, functionName: 'setFeeRecipient', args: [feeRecipient] }),
    )
  }
  if (wanted !== null && guardian !== wanted) {
    step(
      `let ${wanted} pause`,
      encodeFunctionData({ abi, functionName: 'setGuardian', args: [wanted] }),
    )
  }
  // Last, because nothing executes until a co-signer is set.
  if (policy.coSigners === null) return steps
  return [...steps, ...coSignerSteps(pair, coSigners, policy.coSigners, CO_SIGNER_OVERLAP_SECONDS)]
}

/**
 * @param overlapSeconds how long keys that are no longer co-signers stay valid; 0 ends them at once
 * @returns an empty plan when the Router has exactly these keys
 */
export async function planRotation(
  chain: RouterChain,
  pair: RouterPair,
  { owner, coSigners }: { readonly owner: Address; readonly coSigners: RegisteredCoSigners },
  overlapSeconds: bigint,
): Promise<RouterStep[]> {
  const router = openRouter(chain, pair)
  await router.expectOwner(owner)
  return coSignerSteps(pair, await coSignersOf(router), coSigners, overlapSeconds)
}

/**
 * @returns an empty plan when it is already so
 * @throws Error when `sender` may not do it
 */
export async function planPause(
  chain: RouterChain,
  pair: RouterPair,
  sender: Address,
  wanted: 'pause' | 'unpause',
): Promise<RouterStep[]> {
  const router = openRouter(chain, pair)
  const isGuardian = wanted === 'pause' && (await router.guardian()) === sender
  if (!isGuardian) await router.expectOwner(sender)
  if ((await router.isPaused()) === (wanted === 'pause')) return []
  const data = encodeFunctionData({ abi: agentRouter.abi, functionName: wanted })
  return [{ what: `${wanted} the Router`, sender: 'owner', to: pair.router, data }]
}

const pointOf = ({ x, y }: CoSignerKey): CoSignerKey => ({ x, y })

const REVOKED =
  'the Router has ended a co-signer key that this registry still names, and an ended key never becomes valid again: install the newest registry (custody install-registry), replace the key at its home (custody rotate-cosigner), or end it there too (custody draft-registry --end)'
const UNNAMED =
  'the Router has a co-signer key that this registry does not name: install the newest registry (custody install-registry), or end the key with --end-unnamed if no machine uses it'

interface CoSignersNow {
  readonly keys: readonly (CoSignerKey & { readonly until: number })[]
  readonly nowSeconds: number
}

async function coSignersOf(router: ReturnType<typeof openRouter>): Promise<CoSignersNow> {
  const [keys, nowSeconds] = await Promise.all([router.coSigners(), router.blockTime()])
  return { keys, nowSeconds }
}

/** At most one transaction, so that a Router is never without a key while keys change. */
function coSignerSteps(
  { router }: RouterPair,
  { keys, nowSeconds }: CoSignersNow,
  { keys: named, endsUnnamed, doubt }: RegisteredCoSigners,
  overlapSeconds: bigint,
): RouterStep[] {
  const unended = keys.filter(({ until }) => until === UNENDED)
  // A key that signs for longer than the overlap must stay valid here as long; a later plan sets
  // its end.
  const goingOn = named.filter(
    ({ endsInSeconds }) => endsInSeconds === null || endsInSeconds > overlapSeconds,
  )
  const isRevoked = (key: RegisteredKey) =>
    key.endsInSeconds === null && isAmong(keys, key) && !isAmong(unended, key)
  const isKept = (key: CoSignerKey) => !endsUnnamed && !isAmong(named, key)
  if (named.some(isRevoked)) doubt(REVOKED)
  if (unended.some(isKept)) doubt(UNNAMED)
  const added = goingOn.filter((key) => !isAmong(keys, key)).map(pointOf)
  const ended = keys
    // A key with an end ends earlier when a shorter overlap is requested.
    .filter(({ until }) => until > nowSeconds + Number(overlapSeconds))
    .filter((key) => !isAmong(goingOn, key) && !isKept(key))
    .map(pointOf)
  if (added.length === 0 && ended.length === 0) return []
  const what = [
    ...(added.length === 0 ? [] : [`add ${added.length} co-signers`]),
    ...(ended.length === 0 ? [] : [`end ${ended.length} of them in ${overlapSeconds} seconds`]),
  ]
  const data = encodeFunctionData({
    abi: agentRouter.abi,
    functionName: 'changeCoSigners',
    args: [ended, added, overlapSeconds],
  })
  return [{ what: what.join(', '), sender: 'owner', to: router, data }]
}

/** Every call that our plans could have permitted at a target. */
function callsOf(target: Address): AllowedCall[] {
  return [...SWAP_SELECTORS, ...VAULT_SELECTORS].map((selector) => ({ target, selector }))
}

async function only<T>(
  items: readonly T[],
  isThere: (item: T) => Promise<boolean>,
  wanted: boolean,
): Promise<T[]> {
  const there = await Promise.all(items.map(isThere))
  return items.filter((_, i) => there[i] === wanted)
}
