import { parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openChainWriter } from '../../scripts/contracts/chain-writer.js'
import agentRouter from '../../src/contracts/generated/agent-router.json' with { type: 'json' }
import devUsdc from '../../src/contracts/generated/dev-usdc.json' with { type: 'json' }
import {
  encodeCancel,
  encodeExecute,
  routerIntentDigest,
} from '../../src/contracts/router-intent.js'
import type { RouterIntent } from '../../src/contracts/router-intent-type.js'
import {
  ROUTER_INTENT_LIFETIME_SECONDS_MAX,
  routerFee,
} from '../../src/contracts/router-intent-type.js'
import { encodeVaultDeposit } from '../../src/contracts/venue-calls.js'
import type { Address, Hex } from '../../src/domain/ids.js'
import { allow, deployVenue, encodeTrade } from './hostile-contracts.js'
import { type CoSignerKey, coSign, createCoSignerKey, flipS, signIntent } from './signing.js'
import {
  type Agent,
  balanceOf,
  createAgent,
  createDelegatedAgent,
  execute,
  FEE_BPS,
  intentOf,
  readRouter,
  refusalOf,
  revertReason,
  type SponsoredChain,
  sign,
  startSponsoredChain,
} from './sponsored-chain.js'

const AMOUNT = 100_000_000n
const NET = AMOUNT - routerFee(AMOUNT, FEE_BPS)

let chain: SponsoredChain
let venue: Address
let agent: Agent
beforeAll(async () => {
  chain = await startSponsoredChain()
  venue = await deployVenue(chain)
})
afterAll(() => chain?.stop())
beforeEach(async () => {
  agent = await createDelegatedAgent(chain)
})

function depositIntent(who: Agent = agent): Promise<RouterIntent> {
  const vault = chain.world.vaults[0]?.address as Address
  return intentOf(chain, who, {
    tokenIn: chain.usdc,
    amountIn: AMOUNT,
    tokenOut: vault,
    minOut: 1n,
    target: vault,
    data: encodeVaultDeposit(NET, who.address),
  })
}

/** The intent is refused for this reason, nothing moved, and its nonce is still free. */
async function expectRefused(
  intent: RouterIntent,
  reason: string,
  overrides: Parameters<typeof execute>[3] = {},
) {
  const before = await balanceOf(chain, intent.tokenIn, intent.account)
  const receipt = await execute(chain, agent, intent, overrides)
  expect(await revertReason(chain, receipt)).toBe(reason)
  expect(await balanceOf(chain, intent.tokenIn, intent.account)).toBe(before)
  expect(await readRouter(chain, 'isNonceUsed', [intent.account, intent.nonce])).toBe(false)
}

async function expectDone(intent: RouterIntent, overrides: Parameters<typeof execute>[3] = {}) {
  expect(await revertReason(chain, await execute(chain, agent, intent, overrides))).toBeNull()
}

/** The P-256 half of a signature pair replaced by another key's. */
async function coSignedBy(key: CoSignerKey, intent: RouterIntent) {
  const { user } = await sign(chain, agent, intent)
  return { user, co: coSign(key, routerIntentDigest(chain.chainId, chain.router, intent)) }
}

/** `renounceOwnership()`. */
const RENOUNCE_OWNERSHIP = '0x715018a6'

describe('the Router refuses', () => {
  it('an intent a second time', async () => {
    const intent = await depositIntent()
    const signatures = await sign(chain, agent, intent)
    await expectDone(intent, { signatures })
    const replay = await execute(chain, agent, intent, { signatures })
    expect(await revertReason(chain, replay)).toBe('NonceUsed')
  })

  it('another intent under a used nonce', async () => {
    const first = await depositIntent()
    await expectDone(first)
    const second = { ...(await depositIntent()), nonce: first.nonce }
    expect(await revertReason(chain, await execute(chain, agent, second))).toBe('NonceUsed')
  })

  it('an intent signed for another chain', async () => {
    const intent = await depositIntent()
    const elsewhere = { chainId: 1, router: chain.router }
    const signatures = await signIntent(agent.key, chain.coSigner, elsewhere, intent)
    await expectRefused(intent, 'InvalidUserSignature', { signatures })
  })

  it('an intent signed for another Router', async () => {
    const intent = await depositIntent()
    const elsewhere = { chainId: chain.chainId, router: chain.delegate }
    const signatures = await signIntent(agent.key, chain.coSigner, elsewhere, intent)
    await expectRefused(intent, 'InvalidUserSignature', { signatures })
  })

  it('an expired intent, and one that lives too long', async () => {
    const { timestamp } = await chain.owner.client.getBlock()
    const intent = await depositIntent()
    // Chain time moves on before the transaction is mined; ten minutes are ample for that.
    const tooFar = Number(timestamp) + ROUTER_INTENT_LIFETIME_SECONDS_MAX + 600
    await expectRefused({ ...intent, deadline: Number(timestamp) - 1 }, 'IntentExpired')
    await expectRefused({ ...intent, deadline: tooFar }, 'DeadlineTooFar')
  })

  it('calldata that differs from what was signed', async () => {
    const intent = await depositIntent()
    const { user, co } = await sign(chain, agent, intent)
    const other = encodeVaultDeposit(NET, chain.relayer.account.address)
    const call = encodeExecute(intent, user, co).replace(intent.data.slice(2), other.slice(2))
    const receipt = await chain.relayer.client.sendTransactionSync({
      to: chain.router,
      data: call as Hex,
      gas: 1_000_000n,
    })
    expect(await revertReason(chain, receipt)).toBe('DataMismatch')
  })

  it('a fee over the cap, even when both signed it', async () => {
    await expectRefused({ ...(await depositIntent()), feeBps: 101 }, 'FeeTooHigh')
  })

  it('a stranger as relayer', async () => {
    const account = privateKeyToAccount(generatePrivateKey())
    const stranger = openChainWriter(chain.anvil.url, chain.chainId, account)
    await stranger.client.setBalance({ address: account.address, value: parseEther('1') })
    await expectRefused(await depositIntent(), 'NotRelayer', { relayer: stranger })
    await chain.owner.write(chain.router, agentRouter.abi, 'addRelayers', [[account.address]])
    await chain.owner.write(chain.router, agentRouter.abi, 'removeRelayers', [[account.address]])
    await expectRefused(await depositIntent(), 'NotRelayer', { relayer: stranger })
  })

  it('an unlisted venue, an unlisted function of a listed one, and calldata without a function', async () => {
    const intent = await depositIntent()
    await expectRefused({ ...intent, target: chain.usdc }, 'CallNotAllowed')
    const transfer: Hex = `0xa9059cbb${intent.data.slice(10)}`
    await expectRefused({ ...intent, data: transfer }, 'CallNotAllowed')
    await expectRefused({ ...intent, data: '0x6e553f' }, 'CallNotAllowed')
  })

  it('a co-signature by another P-256 key, over another digest, or of zeros', async () => {
    const intent = await depositIntent()
    const { user, co } = await sign(chain, agent, intent)
    const other = await sign(chain, agent, { ...intent, amountIn: AMOUNT + 1n })
    const strangers = await coSignedBy(createCoSignerKey(), intent)
    const reason = 'InvalidCoSignature'
    await expectRefused(intent, reason, { signatures: strangers })
    await expectRefused(intent, reason, { signatures: { user, co: other.co } })
    await expectRefused(intent, reason, {
      signatures: { user, co: { ...co, signature: new Uint8Array(64) } },
    })
    await expectRefused(intent, reason, { signatures: { user, co: flipS(co) } })
  })

  it('a user signature by another account, or of zeros', async () => {
    const intent = await depositIntent()
    const other = await createAgent(chain)
    const { co } = await sign(chain, agent, intent)
    const { user } = await sign(chain, other, intent)
    const reason = 'InvalidUserSignature'
    await expectRefused(intent, reason, { signatures: { user, co } })
    await expectRefused(intent, reason, { signatures: { user: new Uint8Array(65), co } })
  })

  it('an account that has not delegated', async () => {
    agent = await createAgent(chain)
    await expectRefused(await depositIntent(), 'NotDelegated')
  })

  it('less than the signed minimum, by one unit', async () => {
    await chain.owner.write(chain.usdc, devUsdc.abi, 'mint', [venue, 1_000n])
    const trade = (given: bigint) =>
      intentOf(chain, agent, {
        tokenIn: chain.usdc,
        amountIn: AMOUNT,
        tokenOut: chain.world.token.address,
        minOut: 1_000n,
        target: venue,
        data: encodeTrade(chain.usdc, NET, chain.world.token.address, given, agent.address),
      })
    await chain.owner.send({
      to: chain.world.token.address,
      data: `0x40c10f19${venue.slice(2).padStart(64, '0')}${(5_000).toString(16).padStart(64, '0')}`,
    })
    await expectRefused(await trade(999n), 'SlippageExceeded')
    await expectRefused(await trade(0n), 'SlippageExceeded')
    await expectDone(await trade(1_000n))
  })

  it('no minimum, no amount, and the same token on both sides', async () => {
    const intent = await depositIntent()
    await expectRefused({ ...intent, minOut: 0n }, 'InvalidAmounts')
    await expectRefused({ ...intent, amountIn: 0n }, 'InvalidAmounts')
    await expectRefused({ ...intent, tokenOut: intent.tokenIn }, 'SameToken')
  })

  it('everything while it is paused, and the guardian can only pause', async () => {
    const account = privateKeyToAccount(generatePrivateKey())
    const guardian = openChainWriter(chain.anvil.url, chain.chainId, account)
    await guardian.client.setBalance({ address: account.address, value: parseEther('1') })
    await chain.owner.write(chain.router, agentRouter.abi, 'setGuardian', [account.address])
    await guardian.write(chain.router, agentRouter.abi, 'pause', [])
    await expectRefused(await depositIntent(), 'EnforcedPause')
    expect(await refusalOf(guardian.write(chain.router, agentRouter.abi, 'unpause', []))).toBe(
      'OwnableUnauthorizedAccount',
    )
    await chain.owner.write(chain.router, agentRouter.abi, 'unpause', [])
    await expectDone(await depositIntent())
  })

  it('to be left without an owner, for any caller', async () => {
    const { router, owner, relayer } = chain
    for (const from of [owner, relayer]) {
      expect(await refusalOf(from.send({ to: router, data: RENOUNCE_OWNERSHIP }))).toBe(
        'OwnershipKept',
      )
    }
    // The owner of before still is.
    const guardian = owner.account.address
    await owner.write(router, agentRouter.abi, 'setGuardian', [guardian])
  })

  it('a cancelled intent; only the account and relayers cancel, and not too late', async () => {
    const intent = await depositIntent()
    const { router, relayer, owner } = chain
    expect(
      await refusalOf(
        owner.write(router, agentRouter.abi, 'cancel', [agent.address, intent.nonce]),
      ),
    ).toBe('NotAllowedToCancel')
    await relayer.send({ to: router, data: encodeCancel(agent.address, intent.nonce) })
    expect(await revertReason(chain, await execute(chain, agent, intent))).toBe('NonceUsed')

    const next = await depositIntent()
    await owner.client.setBalance({ address: agent.address, value: parseEther('1') })
    const self = openChainWriter(chain.anvil.url, chain.chainId, agent.key)
    await self.send({ to: router, data: encodeCancel(agent.address, next.nonce) })
    expect(await revertReason(chain, await execute(chain, agent, next))).toBe('NonceUsed')

    const done = await depositIntent()
    await expectDone(done)
    expect(
      await refusalOf(
        relayer.write(router, agentRouter.abi, 'cancel', [agent.address, done.nonce]),
      ),
    ).toBe('NonceUsed')
  })

  it('native currency that nobody asked it to take', async () => {
    expect(await refusalOf(chain.owner.send({ to: chain.router, data: '0x', value: 1n }))).toBe(
      'UnexpectedNative',
    )
  })
})

/** One step of the owner's, as `countersign contracts` sends it. */
function changeCoSigners(
  ended: readonly CoSignerKey[],
  added: readonly CoSignerKey[],
  overlapSeconds: bigint,
) {
  const points = (keys: readonly CoSignerKey[]) => keys.map(({ x, y }) => ({ x, y }))
  const args = [points(ended), points(added), overlapSeconds] as const
  return chain.owner.write(chain.router, agentRouter.abi, 'changeCoSigners', args)
}

describe('co-signers', () => {
  const reason = 'InvalidCoSignature'

  it('of several machines count side by side, and each ends alone', async () => {
    const { owner, coSigner: first } = chain
    const [second, third] = [createCoSignerKey(), createCoSignerKey()]
    await changeCoSigners([], [second, third], 0n)
    for (const key of [first, second, third]) {
      const intent = await depositIntent()
      await expectDone(intent, { signatures: await coSignedBy(key, intent) })
    }
    // Revoked at once: as where its machine is lost.
    await changeCoSigners([second], [], 0n)
    const revoked = await depositIntent()
    await expectRefused(revoked, reason, { signatures: await coSignedBy(second, revoked) })
    await expectDone(revoked, { signatures: await coSignedBy(third, revoked) })

    // Replaced, with an overlap.
    const fourth = createCoSignerKey()
    await changeCoSigners([third], [fourth], 600n)
    for (const key of [first, third, fourth]) {
      const intent = await depositIntent()
      await expectDone(intent, { signatures: await coSignedBy(key, intent) })
    }
    await owner.client.increaseTime({ seconds: 601 })
    await owner.client.mine({ blocks: 1 })
    const late = await depositIntent()
    await expectRefused(late, reason, { signatures: await coSignedBy(third, late) })
    await expectDone(late, { signatures: await coSignedBy(fourth, late) })
    await changeCoSigners([fourth], [], 0n)
  })

  it('sign for themselves alone: another one’s key beside a signature makes it none', async () => {
    const second = createCoSignerKey()
    await changeCoSigners([], [second], 0n)
    const intent = await depositIntent()
    const { user, co } = await coSignedBy(chain.coSigner, intent)
    const { publicKey } = (await coSignedBy(second, intent)).co
    const exchanged = { user, co: { ...co, publicKey } }
    await expectRefused(intent, reason, { signatures: exchanged })
    await changeCoSigners([second], [], 0n)
  })

  it('that end keep the earlier of two ends, and are listed with it', async () => {
    const second = createCoSignerKey()
    await changeCoSigners([], [second], 0n)
    const untilOf = async () => {
      const all = await chain.owner.client.readContract({
        ...{ address: chain.router, abi: agentRouter.abi, functionName: 'coSigners' },
      })
      return all.find(({ key }) => key.x === second.x)?.until
    }
    expect(await untilOf()).toBe(2 ** 48 - 1)
    await changeCoSigners([second], [], 60n)
    const until = await untilOf()
    const { timestamp } = await chain.owner.client.getBlock()
    expect(until).toBe(Number(timestamp) + 60)
    await changeCoSigners([second], [], 3_600n)
    expect(await untilOf()).toBe(until)
    await changeCoSigners([second], [], 0n)
    expect(await untilOf()).toBeLessThan(until ?? 0)
  })

  it('that were ended never hold again', async () => {
    const second = createCoSignerKey()
    await changeCoSigners([], [second], 0n)
    await changeCoSigners([], [second], 0n)
    await changeCoSigners([second], [], 600n)
    expect(await refusalOf(changeCoSigners([], [second], 0n))).toBe('EndedCoSigner')
    expect(await refusalOf(changeCoSigners([second], [second], 0n))).toBe('EndedCoSigner')
  })

  it('are points of the curve, ended only where they are known, within an hour', async () => {
    const { x, y, privateKey } = createCoSignerKey()
    const stranger = { x, y, privateKey }
    expect(await refusalOf(changeCoSigners([], [{ ...stranger, y: x }], 0n))).toBe(
      'InvalidCoSigner',
    )
    expect(await refusalOf(changeCoSigners([stranger], [], 0n))).toBe('UnknownCoSigner')
    expect(await refusalOf(changeCoSigners([], [stranger], 3_601n))).toBe('OverlapTooLong')
  })
})

describe('the owner', () => {
  it('alone configures', async () => {
    const { router, relayer } = chain
    const refused = [
      relayer.write(router, agentRouter.abi, 'addRelayers', [[relayer.account.address]]),
      relayer.write(router, agentRouter.abi, 'allowCalls', [
        [{ target: venue, selector: '0x12345678' }],
      ]),
      relayer.write(router, agentRouter.abi, 'setFeeRecipient', [relayer.account.address]),
      relayer.write(router, agentRouter.abi, 'setGuardian', [relayer.account.address]),
      relayer.write(router, agentRouter.abi, 'pause', []),
    ]
    const reasons = await Promise.all(refused.map(refusalOf))
    const notOwner = Array(4).fill('OwnableUnauthorizedAccount')
    expect(reasons).toEqual([...notOwner, 'NotGuardian'])
  })

  it('cannot list the Router itself, nor an address without code, as a venue', async () => {
    expect(await refusalOf(allow(chain, chain.router, ['0x12345678']))).toBe('InvalidTarget')
    expect(await refusalOf(allow(chain, chain.relayer.account.address, ['0x12345678']))).toBe(
      'InvalidTarget',
    )
  })
})
