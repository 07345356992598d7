import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { handOver, hasEnded, NotReplaced, SUCCESSOR } from '../../src/supervisor/hand-over.js'

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

function service(how: 'runs' | 'takes-over' | 'breaks-at-once' | 'breaks-late'): ChildProcess {
  const child = fork('test/supervisor/fixtures-service.mjs', [how])
  children.push(child)
  return child
}

async function running(): Promise<ChildProcess> {
  const child = service('runs')
  await once(child, 'message')
  return child
}

test('a successor that is ready has the old one ended, and stays', async () => {
  const old = await running()
  let asked: readonly string[] = []
  const next = await handOver(old, (args) => {
    asked = args
    return service('takes-over')
  })
  expect(asked).toEqual([SUCCESSOR])
  // It was told of its successor before it was told to end.
  expect(old.exitCode).toBe(10)
  expect(hasEnded(next)).toBe(false)
})

test('a successor that does not come up costs nothing: the old one goes on', async () => {
  const old = await running()
  const replacing = handOver(old, () => service('breaks-at-once'))
  await expect(replacing).rejects.toThrow(NotReplaced)
  await expect(replacing).rejects.toThrow(/ended with 3/)
  expect(hasEnded(old)).toBe(false)
})

test('a successor that cannot even be started costs nothing: the old one goes on', async () => {
  const old = await running()
  const replacing = handOver(old, () => {
    const child = spawn('/nowhere/node', [], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
    child.on('error', () => undefined)
    return child
  })
  await expect(replacing).rejects.toThrow(NotReplaced)
  await expect(replacing).rejects.toThrow(/could not be started/)
  expect(hasEnded(old)).toBe(false)
})

test('a successor that breaks once the old one is gone is no quiet matter', async () => {
  const old = await running()
  const replacing = handOver(old, () => service('breaks-late'))
  await expect(replacing).rejects.toThrow(/ended with 4/)
  await expect(replacing).rejects.not.toThrow(NotReplaced)
})
