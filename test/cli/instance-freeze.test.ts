import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runProgram } from '../../src/cli/program.js'
import { instanceFreezePath, readInstanceFreeze } from '../../src/custody/instance-freeze.js'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cs-freeze-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

async function custody(...args: readonly string[]) {
  let said = ''
  const take = (text: string) => {
    said += text
  }
  const io = { env: { COUNTERSIGN_HOME: home }, out: take, err: take, isInteractive: false }
  return { code: await runProgram(io, ['custody', ...args, '--domain', 'user']), said }
}

test('a home where there is no such domain is not said to be frozen, nor to be open again', async () => {
  for (const command of ['freeze', 'unfreeze']) {
    const { code, said } = await custody(command)
    expect([code, readdirSync(home)]).toEqual([2, []])
    expect(said).toContain('with --home')
    expect(said).not.toMatch(/frozen +(true|false)/)
  }
})

test('a domain that is there is frozen, and open again', async () => {
  mkdirSync(join(home, 'identity-provider'))
  const current = () => readInstanceFreeze(instanceFreezePath(home, 'user'))
  expect((await custody('freeze', '--reason', 'look')).code).toBe(0)
  expect(current()).toMatchObject({ scope: 'instance', reason: 'look' })
  expect((await custody('unfreeze')).code).toBe(0)
  expect(current()).toBeNull()
})
