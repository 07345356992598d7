import { createPostgres } from '../support/postgres-server.js'
import { describeSnapshotKills } from '../support/snapshot-kills.js'

const ROUNDS = Number(process.env.SNAPSHOT_KILLS ?? 8)
const OUTAGES = 3

describeSnapshotKills(
  'Postgres',
  async () => {
    const server = await createPostgres()
    async function outage(): Promise<void> {
      await server.kill()
      await server.start()
    }
    return {
      settings: { postgres: [server.url] },
      outages: Array.from({ length: OUTAGES }, () => outage),
      damage: () =>
        void server.sql(
          'UPDATE countersign_journal.chunks SET body = set_byte(body, 200, get_byte(body, 200) # 1) WHERE index = 1',
        ),
      close: () => server.remove(),
    }
  },
  { rounds: ROUNDS, damages: 'a chunk' },
)
