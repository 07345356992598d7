import { createRestateEngine } from '../support/restate-engine.js'
import { describeSnapshotKills } from '../support/snapshot-kills.js'

const ROUNDS = Number(process.env.SNAPSHOT_KILLS ?? 4)

/** Each node in turn is killed as a power cut would, and comes back on its data. */
describeSnapshotKills(
  'Restate',
  async () => {
    const { cluster, key, close } = await createRestateEngine(3)
    return {
      settings: {
        restate: { ingresses: cluster.ingresses, key: Buffer.from(key).toString('hex') },
      },
      outages: cluster.nodes.map((node) => async () => {
        await node.kill()
        await node.start()
      }),
      close,
    }
  },
  { rounds: ROUNDS, damages: 'nothing' },
)
