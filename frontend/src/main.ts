import { mount } from "svelte";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/markdown.css";
import App from "./App.svelte";
import { Hearth } from "./app/hearth.svelte";
import { applyTheme, followSystem } from "./app/theme";

applyTheme();
followSystem();
const heart = new Hearth();
await heart.start();
mount(App, { target: document.getElementById("app")!, props: { heart } });
