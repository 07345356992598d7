import { getAddress } from 'viem'
import type { Address } from '../../src/domain/ids.js'
import { newAddress } from '../e2e/chain.js'
import { actAs } from './attacker.js'
import { approve, type Call, callTo, ETHER, encode, transfer, transferFrom, USD } from './calls.js'
import { batchOf, executed } from './cases-places.js'
import type { DrainCase, Scene } from './scene.js'

const SOME = 400n * USD
/** Of a vault that nobody configured: dollars of shares. */
const SHARES = SOME * 10n ** 6n
/** A sign of Trickster.sol. */
const BY_GAS_PRICE = 1n
const NOBODY = '0x0000000000000000000000000000000000000000'

/** The account has shares, receipts and a position of its own, as the wallet does. */
export const accountHasPlaces = ({ stage, at, account }: Scene) => {
  const gift = callTo(at.benefactor, 'endow(address,uint256)', [account, 500n], 2n * ETHER)
  return actAs(stage, getAddress(newAddress()), gift)
}

const positionOf = ({ stage, at }: Scene, holder: Address) =>
  stage.ask<bigint>(at.positions, 'tokenOfOwnerByIndex(address,uint256) view returns (uint256)', [
    holder,
    0n,
  ])

const paysAndApproves = ({ at, account, send }: Scene, payee: Address) => {
  const calls = [transfer(at.usdc, payee, SOME / 2n), approve(at.usdc, at.Thief, SOME / 2n)]
  return send(batchOf(account, calls))
}

/** As a Safe is asked; operation 1 runs what is at `to` as the account's own code. */
export const asSafe = ({ account }: Scene, { to, value, data }: Call, operation: 0 | 1): Call =>
  callTo(
    account,
    'execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)',
    [to, value, data, operation, 0n, 0n, 0n, NOBODY, NOBODY, '0x'],
  )

/** What an account of the wallet gives away and lets others take without a price, a log or a name. */
export const ACCOUNTS: readonly DrainCase[] = [
  {
    title: 'the wallet’s account sends shares of an unknown vault to a stranger',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    given: accountHasPlaces,
    attack: (scene) =>
      scene.send(executed(scene, transfer(scene.at.vault, scene.attacker, SHARES))),
  },
  {
    title: 'the wallet’s account sends its position to a stranger',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    given: accountHasPlaces,
    async attack(scene) {
      const { at, account, attacker, send } = scene
      const id = await positionOf(scene, account)
      await send(executed(scene, transferFrom(at.positions, account, attacker, id)))
    },
  },
  {
    title: 'the wallet’s account approves a stranger for shares of an unknown vault',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    given: accountHasPlaces,
    attack: (scene) => scene.send(executed(scene, approve(scene.at.vault, scene.at.Thief, SHARES))),
  },
  {
    title: 'the wallet’s account approves a stranger whom only a contract that it calls names',
    expected: 'counted',
    async attack(scene) {
      const { stage, at, account, attacker, send, deploy } = scene
      const trickster = await deploy('Trickster')
      const { to, value, data } = approve(at.usdc, at.Thief, SOME)
      const back = encode('execute(address,uint256,bytes)', [to, value, data])
      await actAs(stage, attacker, callTo(trickster, 'remember(bytes)', [back]))
      await send(executed(scene, callTo(trickster, 'reenterAsRemembered(address)', [account])))
    },
  },
  {
    title: 'the wallet’s account pays the wallet, and approves a stranger for as much',
    expected: 'counted',
    countsOnKey: 200,
    attack: (scene) => paysAndApproves(scene, scene.wallet),
  },
  {
    title: 'the wallet’s account pays a stranger, and approves another for as much',
    expected: 'counted',
    countsOnKey: 400,
    attack: (scene) => paysAndApproves(scene, scene.attacker),
  },
  {
    title: 'money that the wallet’s account pays a stranger, in place of a sale among strangers',
    expected: 'counted',
    countsOnKey: 400,
    async attack(scene) {
      const { stage, at, account, attacker, deploy } = scene
      const [seller, buyer] = [await deploy('Trickster'), await deploy('Trickster')]
      const token = at.SignedToken
      await actAs(stage, attacker, callTo(token, 'mint(address,uint256)', [seller, SOME]))
      await actAs(stage, attacker, {
        to: buyer,
        value: (SOME * ETHER) / (3_000n * USD),
        data: '0x',
      })
      const back = encode('withdraw(address,uint256,address)', [at.usdc, SOME, attacker])
      const sold = callTo(seller, 'reenterOrSell(uint256,address,bytes,address,uint256,address)', [
        ...[BY_GAS_PRICE, account, back, token, SOME, buyer],
      ])
      await scene.send(executed(scene, sold))
    },
  },
  {
    title: 'the wallet’s account runs a stranger’s code as its own',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    async attack(scene) {
      const usurper = await scene.deploy('Usurper')
      await scene.send(asSafe(scene, callTo(usurper, 'tidyUp()'), 1))
    },
  },
  {
    title: 'a transfer that the wallet’s account schedules, and anybody may run',
    expected: 'PRICE_UNAVAILABLE',
    harmless: true,
    attack: (scene) => {
      const { to, value, data } = transfer(scene.at.usdc, scene.attacker, SOME)
      const word = `0x${'0'.repeat(64)}`
      return scene.send(
        callTo(scene.account, 'schedule(address,uint256,bytes,bytes32,bytes32,uint256)', [
          ...[to, value, data, word, word, 0n],
        ]),
      )
    },
    followUp: ({ stage, at, account, attacker }) => {
      const { to, value, data } = transfer(at.usdc, attacker, SOME)
      const run = 'runScheduled(address,uint256,bytes)'
      return actAs(stage, attacker, callTo(account, run, [to, value, data]))
    },
  },
]
