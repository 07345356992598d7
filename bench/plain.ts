import { type Child, numberOf, startChild } from './child-process.js'
import { SINK_CHAIN } from './sink-chains.js'
import { startChainSink } from './sink-stack.js'
import { makeDirectory } from './temporary.js'
import type { WriteTarget } from './write-path.js'

/** The plain server over its own chain sink. */
export interface PlainStack extends WriteTarget {
  stop(): Promise<void>
}

export async function startPlainServer(keys: number): Promise<PlainStack> {
  const directory = makeDirectory()
  const sink = await startChainSink()
  let server: Child
  try {
    server = await startChild('dist/bench/plain-server.js', {
      RPC_URL: `http://127.0.0.1:${numberOf(sink, 'port')}`,
      PLAIN_DIRECTORY: directory.path,
      PLAIN_KEYS: String(keys),
    })
  } catch (error) {
    await sink.kill()
    directory.remove()
    throw error
  }
  return {
    label: 'plain server',
    port: numberOf(server, 'port'),
    chainId: SINK_CHAIN,
    secrets: server.ready.secrets as readonly string[],
    pids: { plain: server.pid, chain: sink.pid },
    async stop() {
      await server.stop()
      await sink.stop()
      directory.remove()
    },
  }
}
