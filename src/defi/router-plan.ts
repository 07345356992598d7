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
 * What is to be done about a chain's Router, as transactions for others to send: the owner is meant
 * to be a cold multi-signature wallet, so nothing here holds a key or sends anything. An empty plan
 * says that the chain is as the policy wants it.
 */
export interface RouterPolicy {
  /** The Router's owner now; the plan is for its signature. */
  readonly owner: Address
  /** Null leaves them as they are. */
  readonly coSigners: RegisteredCoSigners | null
  /** Gas wallets of this chain. */
  readonly relayers: readonly Address[]
  /** Null leaves it as it is; so with the guardian, who may pause besides the owner. */
  readonly feeRecipient: Address | null
  readonly guardian: Address | null
  readonly allowedCalls: readonly AllowedCall[]
  /** Taken from the lists when they are there. */
  readonly removedRelayers?: readonly Address[]
  readonly disallowedTargets?: readonly Address[]
}

/** What a registry says of co-signers. */
export interface RegisteredCoSigners {
  readonly keys: readonly RegisteredKey[]
  /** Whether keys end that it does not name: an older registry would take them from machines that are new. */
  readonly endsUnnamed: boolean
  /** Hears why it may not be the newest: what is in doubt is left as it is, and all else is planned. */
  doubt(why: string): void
}

export interface RegisteredKey extends CoSignerKey {
  /** Seconds from now; null goes on. */
  readonly endsInSeconds: number | null
}

export interface RouterStep {
  /** One line for a person. */
  readonly what: string
  /** `anyone` may send a deployment; all else is the owner's. */
  readonly sender: 'anyone' | 'owner'
  readonly to: Address
  readonly data: Hex
}

/** Addresses that depend on the owner alone, the same on every chain. */
export function routerAddresses(owner: Address): RouterPair {
  const router = routerDeployment(owner).address
  return { router, delegate: delegateDeployment(router).address }
}

/** What a Router must allow for the venues of a chain's configuration, and nothing more. */
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

/** The two deployments, where there is no code yet. @throws FaultError CHAIN_UNAVAILABLE */
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

/** As long as an intent under the former key may live (AgentRouter, MAX_LIFETIME). */
export const CO_SIGNER_OVERLAP_SECONDS = 600n
/** `MAX_OVERLAP` of the Router. */
export const CO_SIGNER_OVERLAP_SECONDS_MAX = 3_600

/**
 * What the owner has to change; to be asked for once the Router is deployed.
 * @throws Error when another Router answers at that address, or another owner has it
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
      `allow ${goneCalls.length} calls of venues no longer`,
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
  // Last: until a co-signer is set, nothing executes.
  if (policy.coSigners === null) return steps
  return [...steps, ...coSignerSteps(pair, coSigners, policy.coSigners, CO_SIGNER_OVERLAP_SECONDS)]
}

/**
 * @param overlapSeconds how long keys that are no co-signer's any more stay valid; 0 ends them at once
 * @returns nothing when the Router has these keys already, and no others
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

/** @returns nothing when it is so already. @throws Error when `sender` may not do it */
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
  'the Router has ended a co-signer key that the registry here goes on naming, and what was ended never holds again: install the newest registry (custody install-registry), replace that key at its home (custody rotate-cosigner), or end it there too (custody draft-registry --end)'
const UNNAMED =
  'the Router has a co-signer key that the registry here does not name: install the newest registry (custody install-registry); --end-unnamed ends the key where it is nobody’s'

interface CoSignersNow {
  readonly keys: readonly (CoSignerKey & { readonly until: number })[]
  readonly nowSeconds: number
}

async function coSignersOf(router: ReturnType<typeof openRouter>): Promise<CoSignersNow> {
  const [keys, nowSeconds] = await Promise.all([router.coSigners(), router.blockTime()])
  return { keys, nowSeconds }
}

/** One transaction at the most: a Router is never without any while keys change. */
function coSignerSteps(
  { router }: RouterPair,
  { keys, nowSeconds }: CoSignersNow,
  { keys: named, endsUnnamed, doubt }: RegisteredCoSigners,
  overlapSeconds: bigint,
): RouterStep[] {
  const unended = keys.filter(({ until }) => until === UNENDED)
  // One that has long to sign yet must be good here as long: it ends with a later saying of the same.
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
    // One whose end is set ends sooner where less overlap is asked for than it was.
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

/** Every call that plans of ours could have allowed at a target. */
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
