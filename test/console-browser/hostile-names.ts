import { expect } from 'vitest'
import { newAddress } from '../e2e/chain.js'
import type { Stack } from '../e2e/stack.js'

/** Shown as it is by a page that takes it for text. */
export const MARKUP = `<img src=x onerror="window.ran='img'">`

/** Each would run, or break out of where it is put, in a page that takes it for markup. */
const HOSTILE = [
  MARKUP,
  `"><script>window.ran='script'</script>`,
  `'-(window.ran='quote')-'`,
  `javascript:window.ran='url'`,
  `{{constructor.constructor("window.ran='template'")()}}`,
  `</title></style><svg onload="window.ran='svg'">`,
  '\u202Egnirts desrever\u202C',
  'W'.repeat(60),
]
const CHAIN_ID = 137

export interface Planted {
  readonly keyId: string
  /** Of a call that waited, and was declined with a reason. */
  readonly txId: string
  readonly webhookId: string
}

/** In every field that takes a name, a reason or a note: in each of them all that is hostile. */
export async function plantNames({ service, owner }: Stack): Promise<Planted> {
  let planted: Planted | null = null
  for (const [index, name] of HOSTILE.entries()) {
    const wallet = await owner.post('/wallets', { name })
    const rule = await owner.post('/address-rules', {
      ...{ address: newAddress(), action: 'block', note: name },
    })
    const url = `https://hooks.example.com/${encodeURIComponent(name)}?${index}`
    const hook = await owner.post('/webhooks', { url, description: name })
    const channel = await owner.post('/webhooks', {
      ...{ kind: 'ntfy', url: `https://ntfy.example.com/${index}`, description: name },
    })
    const policy = {
      rules: [{ name, effect: 'require_approval', when: { value_native_gt: '0' } }],
      default: 'deny',
    }
    const key = await owner.post('/keys', {
      ...{ name, sub_wallet_id: service.dev().sub_wallet_id, permission: 'trade', policy },
      ...{ daily_limit_usd: '1000000', monthly_limit_usd: '1000000' },
    })
    const answers = [wallet, rule, hook, channel, key]
    // What a field refuses cannot be shown; a name with markup in it is none of that.
    for (const answer of answers) expect(answer.status, answer.text).toBeLessThan(500)
    if (name !== MARKUP) continue
    for (const answer of answers) expect(answer.status, answer.text).toBeLessThan(300)
    const keyId = String(key.json.key_id)
    const agent = service.api(String(key.json.secret))
    const send = (value: string) =>
      agent.post('/api/tx/send', { chain_id: CHAIN_ID, to: newAddress(), value })
    const sent = await send('1')
    expect(sent.json.status, sent.text).toBe('awaiting_approval')
    const { approval_id } = sent.json.approval as { approval_id: string }
    const freeze = (scope: string, id: unknown) =>
      owner.post('/freeze', { scope, id, reason: name })
    for (const answer of [
      await owner.post(`/approvals/${approval_id}/decline`, { comment: name }),
      await freeze('wallet', wallet.json.sub_wallet_id),
      await freeze('key', keyId),
    ]) {
      expect(answer.status, answer.text).toBeLessThan(300)
    }
    expect((await send('1')).status).toBeGreaterThanOrEqual(400)
    const webhookId = String(hook.json.webhook_id)
    planted = { keyId, txId: String(sent.json.tx_id), webhookId }
  }
  if (planted === null) throw new Error('no name has markup')
  return planted
}
