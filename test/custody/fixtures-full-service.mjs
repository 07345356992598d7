import { randomBytes } from 'node:crypto'
import { systemTimers } from '../../dist/src/clock/timers.js'
import { connectCoSigner } from '../../dist/src/service-custody/connect-co-signer.js'
import { lastServiceBoot } from '../../dist/src/service-custody/service-boot-file.js'

/** Signs as the service until its evidence may not grow any more. Prints what it was told. */
const [home, text] = process.argv.slice(2)
const { walletId, keyId, proofKey } = JSON.parse(text)
const CALLDATA = `0x${'01'.repeat(60_000)}`
const SIGNATURES_MAX = 100

const silent = { info() {}, warn() {}, error() {}, fatal() {} }
const told = []
const timers = systemTimers()
const coSigner = await connectCoSigner({
  home,
  mode: 'dev',
  boot: lastServiceBoot(home, timers),
  timers,
  log: silent,
  onBroken: (error) => told.push(error.name),
})
await coSigner.whenReady(60_000)
const sign = (nonce) =>
  coSigner.sign({
    walletId,
    keyId,
    proofKey: Buffer.from(proofKey, 'hex'),
    requestId: randomBytes(16),
    replaces: null,
    payload: {
      type: 'transaction',
      chainId: 8453,
      nonce,
      to: '0x3333333333333333333333333333333333333333',
      value: 0n,
      data: CALLDATA,
      gasLimit: 2_000_000n,
      maxFeePerGas: 2n,
      maxPriorityFeePerGas: 1n,
    },
  })
let nonce = 0
while (nonce < SIGNATURES_MAX && (await sign(nonce)).ok) nonce++
const next = await sign(nonce + 1)
console.log(JSON.stringify({ signed: nonce, told, next: next.reason }))
process.exit(0)
