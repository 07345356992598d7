import { becomeProgram } from '../scripts/become-program.js'
import { BENCH_COMMAND, PROGRAMS } from './programs.js'

/** `npm run bench -- NAME`: a bench; `run` without a name. */
await becomeProgram(
  { command: BENCH_COMMAND, does: PROGRAMS, usual: 'run' },
  (name) => import(`./${name}.js`),
)
