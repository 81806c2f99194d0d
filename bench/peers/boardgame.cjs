// boardgame.io under its own server: moves a second that its players see confirmed.
// node boardgame.cjs server PORT memory|FOLDER     the server, with that storage
// node boardgame.cjs players PORT MATCHES SECONDS  prints {"moves": n, "seconds": s, "latencies": [ms]}
// The game is as small as one can be: a counter that one player may raise without end.
const game = { name: "counter", setup: () => ({ count: 0 }), moves: { raise: ({ G }) => { G.count += 1; } } };

async function serve(port, storage) {
  const { Server, FlatFile, Origins } = require("boardgame.io/server");
  const db = storage === "memory" ? undefined : new FlatFile({ dir: storage, logging: false });
  const server = Server({ games: [game], origins: [Origins.LOCALHOST], ...(db && { db }) });
  await server.run({ port: Number(port) });
  console.log("ready");
}

async function post(port, path, body) {
  const answer = await fetch(`http://127.0.0.1:${port}/games/counter/${path}`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

// One player's moves, each sent when the one before is confirmed.
async function player(port, until, latencies) {
  const { io } = require("socket.io-client");
  const { matchID } = await post(port, "create", { numPlayers: 2 });
  const { playerCredentials: credentials } = await post(port, `${matchID}/join`, { playerID: "0", playerName: "A" });
  const socket = io(`http://127.0.0.1:${port}/counter`, { transports: ["websocket"] });
  let state = await new Promise((synced) => {
    socket.on("sync", (_, info) => synced(info.state));
    socket.on("connect", () => socket.emit("sync", matchID, "0", credentials, 2));
  });
  let id = state._stateID, moves = 0, confirmed = null;
  const seen = (next) => { if (next > id) { id = next; confirmed(); } };
  socket.on("update", (_, next) => seen(next._stateID));
  socket.on("patch", (_, __, next) => seen(next));
  while (performance.now() < until()) {
    const begun = performance.now();
    await new Promise((done) => {
      confirmed = done;
      const action = { type: "MAKE_MOVE", payload: { type: "raise", args: [], playerID: "0", credentials } };
      socket.emit("update", action, id, matchID, "0");
    });
    latencies.push(performance.now() - begun);
    moves += 1;
  }
  socket.close();
  return moves;
}

async function play(port, matches, seconds) {
  let end = Infinity;
  const latencies = [], begun = performance.now();
  const players = Array.from({ length: Number(matches) }, () => player(port, () => end, latencies));
  end = performance.now() + Number(seconds) * 1000;
  const moves = (await Promise.all(players)).reduce((sum, n) => sum + n, 0);
  console.log(JSON.stringify({ moves, seconds: (performance.now() - begun) / 1000, latencies }));
}

const [mode, port, ...rest] = process.argv.slice(2);
(mode === "server" ? serve(port, ...rest) : play(port, ...rest)).catch((error) => {
  console.error(error);
  process.exit(1);
});
