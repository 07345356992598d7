import { becomeProgram } from './become-program.js'

/** `npm run dev -- NAME`: a program for the running development instance. */
const DOES = {
  fund: 'gives an address money on a development chain',
  reset: 'removes all state of the development home',
  token: 'prints a console token of the demo user',
}

await becomeProgram(
  { command: 'npm run dev --', does: DOES, usual: null },
  (name) => import(`./dev/${name}.js`),
)
