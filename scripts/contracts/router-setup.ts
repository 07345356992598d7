import {
  type Create2Deployment,
  delegateDeployment,
  routerDeployment,
} from '../../src/contracts/deployment.js'
import { agentRouterAbi } from '../../src/contracts/generated/agent-router.js'
import type { Address, Hex } from '../../src/domain/ids.js'
import type { ChainWriter } from './chain-writer.js'

/** What the Router's owner decides. Functions that are not named are not allowed. */
export interface RouterPolicy {
  /** P-256 public key of the co-signer, 32 bytes each; null leaves the key as it is. */
  readonly coSigner: { readonly x: Hex; readonly y: Hex } | null
  /** Gas wallets that may send intents. */
  readonly relayers: readonly Address[]
  readonly feeRecipient: Address | null
  readonly allowedCalls: readonly { readonly target: Address; readonly selector: Hex }[]
}

/** Deploys Router and delegate where they are missing; the writer's account owns the Router. */
export async function deployRouter(
  chain: ChainWriter,
): Promise<{ router: Address; delegate: Address }> {
  const router = routerDeployment(chain.account.address)
  const delegate = delegateDeployment(router.address)
  await deployOnce(chain, router)
  await deployOnce(chain, delegate)
  return { router: router.address, delegate: delegate.address }
}

/**
 * Brings the Router to a policy: adds what it names and is not there yet, removes nothing. May be
 * repeated. The writer's account must own the Router.
 * @param overlapSeconds how long a replaced co-signer key stays valid
 */
export async function configureRouter(
  chain: ChainWriter,
  router: Address,
  policy: RouterPolicy,
  overlapSeconds = 0n,
): Promise<void> {
  const read = { address: router, abi: agentRouterAbi } as const
  const calls: { target: Address; selector: Hex }[] = []
  for (const call of policy.allowedCalls) {
    const allowed = await chain.client.readContract({
      ...read,
      functionName: 'isAllowedCall',
      args: [call.target, call.selector],
    })
    if (!allowed) calls.push(call)
  }
  if (calls.length > 0) await chain.write(router, agentRouterAbi, 'allowCalls', [calls])

  const relayers: Address[] = []
  for (const relayer of policy.relayers) {
    const allowed = await chain.client.readContract({
      ...read,
      functionName: 'isRelayer',
      args: [relayer],
    })
    if (!allowed) relayers.push(relayer)
  }
  if (relayers.length > 0) await chain.write(router, agentRouterAbi, 'addRelayers', [relayers])

  if (policy.coSigner !== null) {
    const { x, y } = policy.coSigner
    const [currentX, currentY] = await chain.client.readContract({
      ...read,
      functionName: 'coSigner',
    })
    if (BigInt(currentX) !== BigInt(x) || BigInt(currentY) !== BigInt(y)) {
      await chain.write(router, agentRouterAbi, 'setCoSigner', [x, y, overlapSeconds])
    }
  }
  if (policy.feeRecipient !== null) {
    const current = await chain.client.readContract({ ...read, functionName: 'feeRecipient' })
    if (BigInt(current) !== BigInt(policy.feeRecipient)) {
      await chain.write(router, agentRouterAbi, 'setFeeRecipient', [policy.feeRecipient])
    }
  }
}

async function deployOnce(chain: ChainWriter, deployment: Create2Deployment): Promise<void> {
  const code = await chain.client.getCode({ address: deployment.address })
  if (code === undefined) await chain.send(deployment.transaction)
}
