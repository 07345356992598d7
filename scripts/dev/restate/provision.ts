import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { PARTITIONS, type RestatePorts } from './settings.js'

const TRIES_MAX = 300
const STEP_MS = 200
const REQUEST_TIMEOUT_MS = 30_000

/**
 * Forms a cluster that has never run. A node that does not listen yet is retried.
 * @param control path of `restatectl`
 */
export async function provision(
  control: string,
  { node }: RestatePorts,
  signal?: AbortSignal,
): Promise<void> {
  const asked = [
    ...['--address', `http://127.0.0.1:${node}/`, 'provision', '--yes'],
    ...['--replication', '2', '--num-partitions', String(PARTITIONS)],
  ]
  let said = ''
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    said = await promisify(execFile)(control, asked).then(
      ({ stdout, stderr }) => stdout + stderr,
      (error: Error) => error.message,
    )
    if (said.includes('has been successfully provisioned')) return
    await delay(STEP_MS, undefined, { signal })
  }
  throw new Error(`the cluster was not made: ${said}`)
}

/** Registers the handler for the cluster's objects; another build registers again. */
export async function register({ admin }: RestatePorts, uri: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${admin}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri, force: true }),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  })
  if (!answer.ok) throw new Error(`not registered: ${await answer.text()}`)
  await answer.text()
}
