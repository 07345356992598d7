import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

const run = (...args: readonly string[]) =>
  spawn(process.execPath, ['dist/src/cli/main.js', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })

test('a reader that has enough ends a command, and gets no trace of it', async () => {
  const child = run('--help')
  child.stdout.destroy()
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  expect([code, said]).toEqual([141, ''])
})

test('nobody who reads the progress ends nothing', async () => {
  const child = run('policy')
  child.stderr.destroy()
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  expect([code, said]).toEqual([2, ''])
})
