import { getAddress } from 'viem'
import { newAddress } from '../e2e/chain.js'
import { finalOf } from '../e2e/stack.js'
import { actAs } from './attacker.js'
import { approve, callTo, ETHER, transfer, transferFrom, USD } from './calls.js'
import type { DrainCase, Scene } from './scene.js'

const SOME = 400n * USD
const NATIVE = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'

/** Lets the wallet's account delegate (EIP-7702), as its first sponsored swap does. */
async function swapSponsored(scene: Scene, amount: bigint, terms: object = {}): Promise<void> {
  const { at, key } = scene
  const sent = await key.api.post('/api/swap/execute', {
    chain_id: 8453,
    token_in: at.usdc,
    token_out: at.wrapped,
    amount_in: amount.toString(),
    ...terms,
  })
  const call = { to: at.swapRouter, value: 0n, data: '0x' as const }
  if (sent.status !== 200 && sent.status !== 202) {
    const refusal = sent.code ?? sent.text
    scene.outcomes.push({ call, refusal, status: 'refused', spend: '0' })
    return
  }
  const { status, spend_usd } = await finalOf(key.api, sent.json.tx_id)
  const done = { refusal: null, status: String(status), spend: String(spend_usd) }
  scene.outcomes.push({ call, ...done })
}

/** Rotates the attacking key; both secrets are good for a while. */
async function rotated(scene: Scene): Promise<Scene['key']> {
  const { stack } = scene.stage
  const reply = await stack.owner.post(`/keys/${scene.key.keyId}/rotate`)
  const { key_id: keyId, secret } = reply.json
  if (keyId === undefined || secret === undefined) throw new Error(reply.text)
  return { keyId, secret, api: stack.service.api(secret) }
}

/** What several keys, several calls at once, and the service's own flows make of a cap. */
export const KEYS: readonly DrainCase[] = [
  {
    title: 'a sponsored swap for a token that the attacker alone sells',
    expected: 'SWAP_LOSS_EXCEEDED',
    harmless: true,
    attack: (scene) =>
      swapSponsored(scene, SOME, { token_out: scene.at.scam, slippage_bps: 5_000 }),
  },
  {
    title: 'a sponsored swap of native currency for such a token, one hop further',
    expected: 'SWAP_LOSS_EXCEEDED',
    harmless: true,
    attack: (scene) =>
      swapSponsored(scene, ETHER / 10n, { token_in: NATIVE, token_out: scene.at.scam }),
  },
  {
    title: 'a sponsored swap that takes half of what it is worth',
    expected: 'SWAP_LOSS_EXCEEDED',
    harmless: true,
    attack: (scene) => swapSponsored(scene, SOME, { slippage_bps: 5_000 }),
  },
  {
    title: 'an approval that does not fit the cap',
    expected: 'LIMIT_EXCEEDED',
    harmless: true,
    dailyUsd: '50',
    attack: ({ at, send }) => send(approve(at.usdc, at.Thief, 51n * USD)),
  },
  {
    title: 'small approvals, one after the other, until the cap is full',
    expected: 'LIMIT_EXCEEDED',
    dailyUsd: '50',
    async attack({ at, send }) {
      for (let i = 0; i < 6; i++) {
        await send(approve(at.usdc, i % 2 === 0 ? at.Thief : at.friend, 10n * USD))
      }
      for (const spender of [at.Thief, at.friend]) await send(approve(at.usdc, spender, 40n * USD))
    },
  },
  {
    title: 'twelve approvals that race one cap',
    expected: 'LIMIT_EXCEEDED',
    dailyUsd: '50',
    async attack({ at, send, parties }) {
      const spenders = Array.from({ length: 12 }, () => getAddress(newAddress()))
      parties.push(...spenders)
      await Promise.all(spenders.map((spender) => send(approve(at.usdc, spender, 10n * USD))))
      // The race may have left room for one more, never for six.
      await send(approve(at.usdc, at.Thief, 51n * USD))
    },
  },
  {
    title: 'approvals of one spender that race each other',
    expected: 'LIMIT_EXCEEDED',
    dailyUsd: '50',
    async attack({ at, send }) {
      await Promise.all(
        Array.from({ length: 6 }, (_, i) => send(approve(at.usdc, at.Thief, BigInt(20 + i) * USD))),
      )
      await send(approve(at.usdc, at.Thief, 51n * USD))
    },
  },
  {
    title: 'approvals that take each other’s place before a block has any of them',
    expected: 'counted',
    mayRunOutOfGas: true,
    attack: ({ at, sendWithin }) =>
      sendWithin([
        approve(at.usdc, at.Thief, SOME),
        approve(at.usdc, at.Thief, 0n),
        approve(at.usdc, at.Thief, SOME),
      ]),
  },
  {
    title: 'pulls by one credit before a block has any of them',
    expected: 'counted',
    async attack({ at, send, sendWithin, wallet }) {
      await send(approve(at.usdc, at.Thief, SOME))
      const pull = callTo(at.Thief, 'pull(address,address,uint256)', [
        ...[at.usdc, wallet, 100n * USD],
      ])
      await sendWithin([pull, pull, pull])
    },
  },
  {
    title: 'steps of an allowance that race each other',
    expected: 'counted',
    async attack({ at, send }) {
      const step = 'increaseAllowance(address,uint256)'
      const args = [at.Thief, 50n * ETHER]
      await Promise.all([1, 2, 3].map(() => send(callTo(at.KitchenToken, step, args))))
    },
  },
  {
    title: 'a spender of another key, called under this one',
    expected: 'counted',
    countsOnKey: 400,
    given: ({ at, send, elder }) => send(approve(at.usdc, at.Thief, SOME), elder),
    attack: ({ at, send, wallet }) =>
      send(callTo(at.Thief, 'pullAll(address,address)', [at.usdc, wallet])),
  },
  {
    title: 'a spender of another key whose call shows nothing',
    expected: 'counted',
    countsOnKey: 400,
    given: ({ at, send, elder }) => send(approve(at.usdc, at.Thief, SOME), elder),
    attack: ({ at, send }) => send(callTo(at.Thief, 'nothing()')),
  },
  {
    title: 'a spender of another key, where the cap does not reach',
    expected: 'LIMIT_EXCEEDED',
    dailyUsd: '50',
    /** What the elder key approved is gone, and was counted on it. */
    given: ({ at, send, elder }) => send(approve(at.usdc, at.Thief, SOME), elder),
    attack: ({ at, send, wallet }) =>
      send(callTo(at.Thief, 'pullAll(address,address)', [at.usdc, wallet])),
    countedBefore: true,
  },
  {
    title: 'a rotated key that goes on where the old one stopped',
    expected: 'LIMIT_EXCEEDED',
    dailyUsd: '50',
    async attack(scene) {
      const { at, send } = scene
      await send(approve(at.usdc, at.Thief, 40n * USD))
      const old = scene.key
      scene.key = await rotated(scene)
      await send(approve(at.usdc, at.friend, 9n * USD), old)
      await send(approve(at.usdc, at.friend, 40n * USD))
    },
  },
  {
    title: 'an approval of the old secret, used under the new one',
    expected: 'counted',
    async attack(scene) {
      const { at, send, wallet } = scene
      await send(approve(at.usdc, at.Thief, SOME))
      scene.key = await rotated(scene)
      await send(callTo(at.Thief, 'pullAll(address,address)', [at.usdc, wallet]))
      await send(approve(at.usdc, at.Thief, SOME))
    },
  },
  {
    title: 'an approval whose credit is spent twice',
    expected: 'counted',
    async attack({ stage, at, send, wallet, attacker }) {
      await send(approve(at.usdc, at.Thief, 100n * USD))
      await actAs(stage, at.Thief, transferFrom(at.usdc, wallet, attacker, 100n * USD))
      await send(approve(at.usdc, at.Thief, 100n * USD))
      await send(callTo(at.Thief, 'pullAll(address,address)', [at.usdc, wallet]))
      await send(transfer(at.usdc, at.Thief, 100n * USD))
    },
  },
  {
    title: 'a credit that is used for a move of the wallet’s own, before the spender pulls',
    expected: 'counted',
    async attack({ at, send }) {
      await send(approve(at.RebasingToken, at.Thief, SOME))
      await send(callTo(at.RebasingToken, 'transferShares(address,uint256)', [at.Thief, SOME]))
    },
  },
  {
    title: 'a credit in shares that is used to redeem them to the spender',
    expected: 'counted',
    async attack({ at, send, wallet }) {
      const shares = SOME * 10n ** 6n
      await send(approve(at.market, at.Thief, shares))
      const args = [shares / 2n, at.Thief, wallet]
      await send(callTo(at.market, 'redeem(uint256,address,address)', args))
    },
  },
  {
    title: 'an approval of a wallet that a sponsored swap made delegate',
    expected: 'counted',
    async attack(scene) {
      await swapSponsored(scene, 50n * USD)
      await scene.send(approve(scene.at.usdc, scene.at.Thief, SOME))
    },
  },
  {
    title: 'native currency that a delegated wallet sends through a contract',
    expected: 'counted',
    async attack(scene) {
      const { at, send, attacker } = scene
      await swapSponsored(scene, 50n * USD)
      await send(callTo(at.Thief, 'forward(address)', [attacker], ETHER / 2n))
    },
  },
  {
    title: 'a contract that calls a delegated wallet back',
    expected: 'counted',
    harmless: true,
    async attack(scene) {
      const { at, send, wallet } = scene
      await swapSponsored(scene, 50n * USD)
      await send(callTo(at.Thief, 'execute(address,bytes)', [wallet, '0x'], ETHER / 4n))
    },
  },
  {
    title: 'a sponsored swap past the cap',
    expected: 'LIMIT_EXCEEDED',
    dailyUsd: '50',
    harmless: true,
    attack: (scene) => swapSponsored(scene, 60n * USD),
  },
]

export { swapSponsored }
