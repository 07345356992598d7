import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { DEV_CHAINS } from '../../../scripts/dev/chains/dev-chains.js'
import { CONFIRMED, SENT_TRANSACTION } from '../../../src/api/openapi-answers.js'
import { NATIVE_DECIMALS } from '../../../src/domain/chains.js'
import { parseUsd, valueUsdMicros } from '../../../src/domain/money.js'
import { type Receiver, startReceiver, status } from '../../webhooks/receiver.js'
import { chainView, erc20Transfer, newAddress } from '../chain.js'
import { allFinal, finalOf, issueKey, type Stack, usedToday } from '../stack.js'

const NATIVE_WEI = 1_000_000_000n
const USDC_AMOUNT = 1_000n
const BASE = 8453
const BURST = 200
const PRICE_DECIMALS = 8
export function describeSends(stack: () => Stack): void {
  describe('every chain', () => {
    let receiver: Receiver
    let secret: string
    beforeAll(async () => {
      receiver = await startReceiver(status(204))
      const made = await stack().owner.post('/webhooks', { url: receiver.url })
      expect(made.status, made.text).toBe(201)
      secret = String(made.json.secret)
    })
    afterAll(() => receiver?.stop())

    test.for(DEV_CHAINS)(
      'confirms native and USDC sends on $name, and tells the webhook',
      async ({ id }) => {
        const { service } = stack()
        const api = service.api()
        const chain = chainView(service.dev(), id)
        const to = newAddress()
        const native = await api.post('/api/tx/send', {
          chain_id: id,
          to,
          data: '0x',
          value: NATIVE_WEI.toString(),
        })
        const token = await api.post('/api/tx/send', {
          chain_id: id,
          to: chain.usdc,
          data: erc20Transfer(to, USDC_AMOUNT),
          value: '0',
        })
        for (const sent of [native, token]) {
          expect(sent.status, sent.text).toBe(200)
          expect(sent.json.status).toBe('broadcast')
          expect(formOf(sent.json)).toEqual(formOf(SENT_TRANSACTION))
          const final = await finalOf(api, sent.json.tx_id)
          expect(final).toMatchObject({ status: 'confirmed', tx_hash: sent.json.tx_hash })
          expect(formOf(final)).toEqual(formOf({ ...SENT_TRANSACTION, ...CONFIRMED }))
          const receipt = await chain.receipt(String(final.tx_hash))
          expect(receipt).toMatchObject({ succeeded: true })
          expect(final.fee_native_wei).toBe(receipt?.feeWei.toString())
          expect(receipt?.from.toLowerCase()).toBe(service.dev().address.toLowerCase())
        }
        expect(await chain.nativeBalance(to)).toBe(NATIVE_WEI)
        expect(await chain.usdcBalance(to)).toBe(USDC_AMOUNT)
        await vi.waitFor(
          () => {
            const told = confirmations(receiver, secret)
            expect(told.get(String(native.json.tx_id))).toBe(native.json.tx_hash)
            expect(told.get(String(token.json.tx_id))).toBe(token.json.tx_hash)
          },
          { timeout: 20_000, interval: 100 },
        )
      },
    )
  })

  test(`${BURST} sends at once use ${BURST} nonces in a row, and the spend is exact`, async () => {
    const { service, owner } = stack()
    const { address } = service.dev()
    const chain = chainView(service.dev(), BASE)
    const key = await issueKey(stack(), { chains: [BASE] })
    const nonceBefore = await chain.nonceOf(address)
    const amounts = Array.from({ length: BURST }, (_, i) => 10n ** 12n + BigInt(i))
    const answers = await Promise.all(
      amounts.map((value) =>
        key.api.post('/api/tx/send', {
          chain_id: BASE,
          to: newAddress(),
          value: value.toString(),
        }),
      ),
    )
    expect(new Set(answers.map(({ status, code }) => `${status} ${code ?? ''}`))).toEqual(
      new Set(['200 ', '202 ']),
    )
    const all = await allFinal(owner, key)
    expect(all).toHaveLength(BURST)
    expect(all.every((tx) => tx.status === 'confirmed')).toBe(true)
    const nonces = all.map(({ nonce }) => nonce ?? -1).sort((a, b) => a - b)
    expect(nonces).toEqual(Array.from({ length: BURST }, (_, i) => nonceBefore + i))
    expect(await chain.nonceOf(address)).toBe(nonceBefore + BURST)

    const price = DEV_CHAINS.find(({ id }) => id === BASE)?.nativePriceUsd8 ?? 0n
    const usd = (wei: bigint) => valueUsdMicros(wei, NATIVE_DECIMALS, price, PRICE_DECIMALS)
    let spentMicros = 0n
    for (const tx of all) {
      const receipt = await chain.receipt(tx.tx_hash ?? '')
      if (receipt === null) throw new Error(`${tx.tx_hash} has no receipt`)
      const micros = usd(BigInt(tx.value)) + usd(receipt.feeWei)
      expect(parseUsd(tx.spend_usd)).toBe(micros)
      spentMicros += micros
    }
    expect(await usedToday(key.api)).toBe(spentMicros)
    const limits = await key.api.get('/api/limits')
    expect(limits.json.monthly_used_usd).toBe(limits.json.daily_used_usd)
  })
}

/** Hash by transaction id of all confirmations told so far. @throws when a signature is wrong */
/** What documented examples and real answers have alike: fields, and which are null. */
function formOf(record: object): object {
  const { status: state, kind } = record as { status?: unknown; kind?: unknown }
  const types = Object.entries(record).map(([name, value]) => [
    name,
    value === null ? value : typeof value,
  ])
  return { ...Object.fromEntries(types), status: state, kind }
}

function confirmations({ received }: Receiver, secret: string): Map<string, string> {
  const webhook = new Webhook(secret)
  const told = new Map<string, string>()
  for (const { body, headers } of received) {
    const event = webhook.verify(body, headers) as {
      type: string
      data: { tx_id: string; tx_hash: string; status: string }
    }
    if (event.type !== 'transaction.confirmed') continue
    expect(formOf(event.data)).toEqual(formOf({ ...SENT_TRANSACTION, ...CONFIRMED }))
    expect(event.data.status).toBe('confirmed')
    told.set(event.data.tx_id, event.data.tx_hash)
  }
  return told
}
