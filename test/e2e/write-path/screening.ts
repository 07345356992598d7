import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { REMOVAL_SETTLE_MS } from '../../../src/screening/lists/text-directory.js'
import { chainView, erc20Transfer, newAddress } from '../chain.js'
import { allFinal, issueKey, type Stack, transactionsOf, usedToday } from '../stack.js'

const BASE = 8453
/** The promise of the screening lists, and what a loaded machine adds. */
const TAKES_EFFECT_MS = 1_000
const SLACK_MS = 2_000

export function describeScreening(stack: () => Stack): void {
  describe('screening', () => {
    test('a listed address is refused within a second, wherever it stands; nothing is reserved', async () => {
      const { service, owner } = stack()
      const key = await issueKey(stack(), { chains: [BASE] })
      const chain = chainView(service.dev(), BASE)
      const listed = newAddress()
      const path = join(service.home, 'lists', 'e2e.txt')
      const send = (to: string, data = '0x') =>
        key.api.post('/api/tx/send', { chain_id: BASE, to, data, value: '1' })
      expect((await send(listed)).status).toBe(200)
      await allFinal(owner, key)
      const used = await usedToday(key.api)

      writeFileSync(path, `${listed}\n`)
      await vi.waitFor(
        async () =>
          expect((await service.api().post('/api/tx/send', probe(listed))).status).toBe(403),
        { timeout: TAKES_EFFECT_MS + SLACK_MS, interval: 100 },
      )
      const direct = await send(listed)
      expect(direct).toMatchObject({ status: 403, code: 'ADDRESS_BLOCKED' })
      expect(String(direct.json.error?.details.address).toLowerCase()).toBe(listed)
      const hidden = await key.api.post('/api/tx/send', {
        chain_id: BASE,
        to: chain.usdc,
        data: erc20Transfer(listed, 1_000_000n),
      })
      expect(hidden).toMatchObject({ status: 403, code: 'ADDRESS_BLOCKED' })
      const limits = await key.api.get('/api/limits')
      expect(limits.json.reserved_usd).toBe('0.00')
      expect(await usedToday(key.api)).toBe(used)
      expect(await transactionsOf(owner, key.keyId)).toHaveLength(1)

      rmSync(path)
      await vi.waitFor(async () => expect((await send(listed)).status).toBe(200), {
        timeout: REMOVAL_SETTLE_MS + TAKES_EFFECT_MS + SLACK_MS * 2,
        interval: 250,
      })
      await allFinal(owner, key)
    })
  })

  /** Moves no money when it is let through, and asks a limit that nobody reads. */
  function probe(to: string) {
    return { chain_id: BASE, to, value: '0' }
  }
}
