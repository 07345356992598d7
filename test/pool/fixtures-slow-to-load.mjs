/** A pool's module that takes its time to load, and tells its environment when it has. */
import { setTimeout as delay } from 'node:timers/promises'
import { BroadcastChannel } from 'node:worker_threads'

await delay(1_000)
const channel = new BroadcastChannel('slow-to-load')
channel.postMessage('loaded')
channel.close()

export const warm = () => true
export const check = () => null
