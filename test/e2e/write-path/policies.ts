import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Io } from '../../../src/cli/io.js'
import { runProgram } from '../../../src/cli/program.js'
import { erc20Transfer, newAddress } from '../chain.js'
import { finalOf, type IssuedKey, issueKey, type Stack } from '../stack.js'

const POLYGON = 137
const ANYWHERE = '0x000000000000000000000000000000000000dEaD'

/** What a key's policy lets through, over the wire. */
export function describePolicies(stack: () => Stack): void {
  async function keyWith(policy: object): Promise<IssuedKey> {
    const key = await issueKey(stack())
    const answer = await stack().owner.call('PATCH', `/keys/${key.keyId}`, {
      body: { policy },
    })
    expect(answer.status, answer.text).toBe(200)
    return key
  }
  /** A command of the owner's that ends in the name of a file with this policy. */
  async function cli(policy: object, args: readonly string[]) {
    const { service } = stack()
    const directory = mkdtempSync(join(tmpdir(), 'cs-policy-'))
    const file = join(directory, 'policy.json')
    writeFileSync(file, JSON.stringify(policy))
    const [out, err]: [string[], string[]] = [[], []]
    const io: Io = {
      env: {
        COUNTERSIGN_URL: service.dev().base_url,
        COUNTERSIGN_TOKEN: await service.token(),
        COUNTERSIGN_HOME: service.home,
      },
      out: (text) => void out.push(text),
      err: (text) => void err.push(text),
      isInteractive: false,
    }
    const code = await runProgram(io, [...args, file])
    process.exitCode = 0
    rmSync(directory, { recursive: true })
    return { code, out: out.join(''), err: err.join('') }
  }
  const send = (key: IssuedKey, to: string = newAddress(), value = '7') =>
    key.api.post('/api/tx/send', { chain_id: POLYGON, to, value })

  describe('a policy', () => {
    test('is shown in canonical form, and its changes are counted', async () => {
      const rules = [{ name: 'dead', effect: 'allow', when: { to: [ANYWHERE] } }]
      const key = await keyWith({ rules, default: 'deny' })
      const { json } = await stack().owner.get('/keys?limit=100')
      const found = json.keys?.find(({ key_id }) => key_id === key.keyId)
      expect(found).toMatchObject({
        policy_version: 1,
        policy: {
          per_transaction_usd: null,
          rules: [{ name: 'dead', effect: 'allow', when: { to: [ANYWHERE.toLowerCase()] } }],
          default: 'deny',
          ceilings: [],
        },
      })
    })

    test('refuses a send alike by REST, by MCP and as a simulation, and lets others through', async () => {
      const rules = [{ name: 'dead', effect: 'allow', when: { to: [ANYWHERE] } }]
      const key = await keyWith({ rules, default: 'deny' })
      const to = newAddress()
      const refused = await send(key, to)
      expect(refused).toMatchObject({ status: 403, code: 'POLICY_DENIED' })
      expect(refused.json.error?.details).toMatchObject({
        ...{ rule: 'default', field: 'to', observed: to.toLowerCase() },
        ...{ permitted: ANYWHERE.toLowerCase(), retry_at: null, suggestion: expect.any(String) },
      })
      const call = { chain_id: POLYGON, to, value: '7' }
      const simulated = await key.api.post('/api/tx/simulate', call)
      expect(simulated).toMatchObject({ status: 403, code: 'POLICY_DENIED' })
      const params = { name: 'send_transaction', arguments: call }
      const { json: said } = await key.api.post(
        '/mcp',
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
        { accept: 'application/json, text/event-stream' },
      )
      const { isError, content } = said.result as { isError: boolean; content: { text: string }[] }
      expect(isError).toBe(true)
      expect(JSON.parse(content[0]?.text ?? '')).toMatchObject({
        error: { code: 'POLICY_DENIED', details: refused.json.error?.details },
      })
      const sent = await send(key, ANYWHERE)
      expect(sent.status, sent.text).toBeLessThan(300)
    })

    test('passes a count exactly, whatever comes at once', async () => {
      const rules = [
        { name: 'pace', effect: 'deny', when: { count: { per_seconds: 3_600, gt: 5 } } },
      ]
      const key = await keyWith({ rules, default: 'allow' })
      const answers = await Promise.all(Array.from({ length: 20 }, () => send(key)))
      const sent = answers.filter(({ status }) => status < 300)
      expect(sent.length).toBe(5)
      for (const { status, code, json } of answers.filter((one) => one.status >= 300)) {
        expect([status, code]).toEqual([403, 'POLICY_DENIED'])
        expect(Date.parse(String(json.error?.details?.retry_at))).toBeGreaterThan(Date.now())
      }
    })

    test('holds units under its ceilings, and the agent sees what is left', async () => {
      const token = stack().service.dev().tokens[POLYGON]?.USDC ?? ''
      const ceilings = [{ chain_id: POLYGON, token: token.toLowerCase(), per: 'day', amount: '20' }]
      const key = await keyWith({ default: 'allow', ceilings })
      const pay = () => {
        const data = erc20Transfer(newAddress(), 7n)
        return key.api.post('/api/tx/send', { chain_id: POLYGON, to: token, data })
      }
      const answers = await Promise.all(Array.from({ length: 6 }, pay))
      expect(answers.filter(({ status }) => status < 300).length).toBe(2)
      const { json } = await key.api.get('/api/limits')
      expect(json.policy).toMatchObject({
        default: 'allow',
        ceilings: [{ ...ceilings[0], used: '14', resets_at: expect.stringMatching(/T00:00:00/) }],
      })
    })

    test('tells new payees from those whom the wallet has paid', async () => {
      const known = newAddress()
      const free = await issueKey(stack())
      const first = await send(free, known)
      expect(first.status, first.text).toBeLessThan(300)
      // One that ends just while the wallet reads whom it paid leaves that unknown to one call.
      await finalOf(free.api, first.json.tx_id)
      const rules = [{ name: 'strangers', effect: 'deny', when: { new_beneficiary: true } }]
      const key = await keyWith({ rules, default: 'allow' })
      const again = await send(key, known)
      expect(again.status, again.text).toBeLessThan(300)
      const stranger = await send(key)
      expect(stranger.json.error?.details).toMatchObject({ field: 'new_beneficiary' })
    })

    test('is tried out before it is given, on calls to come and on past ones', async () => {
      const key = await issueKey(stack())
      const known = newAddress()
      const sent = await send(key, known)
      expect(sent.status, sent.text).toBeLessThan(300)
      const rules = [{ name: 'dead', effect: 'allow', when: { to: [ANYWHERE] } }]
      const policy = { rules, default: 'deny' }
      const call = { operation: 'send', chain_id: POLYGON, data: '0x', value: '7' }
      const calls = [
        { ...call, to: ANYWHERE },
        { ...call, to: known },
      ]
      const tested = await stack().owner.post(`/keys/${key.keyId}/policy/test`, { policy, calls })
      expect(tested.status, tested.text).toBe(200)
      expect(tested.json.verdicts).toMatchObject([
        { effect: 'allow', rule: 'dead' },
        { effect: 'deny', rule: 'default', reasons: expect.any(Array) },
      ])
      const past = await stack().owner.post(`/keys/${key.keyId}/backtest`, { policy })
      expect(past.json).toMatchObject({
        checked: 1,
        refused: [],
        policy_denied: [{ tx_id: sent.json.tx_id, effect: 'deny', rule: 'default', field: 'to' }],
      })
    })

    test('is tried on the past, and shown before it is changed, by the command line', async () => {
      const key = await issueKey(stack())
      const known = newAddress()
      const sent = await send(key, known)
      expect(sent.status, sent.text).toBeLessThan(300)
      const payees = (...to: string[]) => ({
        ...{ rules: [{ name: 'payees', effect: 'allow', when: { to } }], default: 'deny' },
      })
      const past = await cli(payees(ANYWHERE), ['policy', 'backtest', key.keyId, '--policy'])
      expect(past.code, past.err).toBe(0)
      expect(past.out).toContain(String(sent.json.tx_id))
      expect(past.err).toContain('1 past sends; 1 of them would not have been allowed.')
      const body = { policy: payees(ANYWHERE) }
      expect((await stack().owner.call('PATCH', `/keys/${key.keyId}`, { body })).status).toBe(200)
      const wider = await cli(payees(ANYWHERE, known), ['keys', 'change', key.keyId, '--policy'])
      expect(wider.code, wider.err).toBe(0)
      expect(wider.err).toMatch(
        new RegExp(
          `allow \\(payees\\), before deny \\(default\\): send on \\w+.* to ${known}`,
          'i',
        ),
      )
      expect((await send(key, known)).status).toBeLessThan(300)
      expect(await send(key)).toMatchObject({ status: 403, code: 'POLICY_DENIED' })
    })

    test('that is none is refused with a path for each fault', async () => {
      const key = await issueKey(stack())
      const rules = [{ name: 'a', effect: 'allow', when: { to: ['0x12'] } }]
      const policy = { rules, default: 'deny' }
      const answer = await stack().owner.call('PATCH', `/keys/${key.keyId}`, {
        body: { policy },
      })
      expect(answer).toMatchObject({ status: 400, code: 'INVALID_REQUEST' })
      expect(answer.text).toContain('policy.rules.0.when.to.0')
    })
  })
}
