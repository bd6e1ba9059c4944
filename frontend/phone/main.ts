import { mount } from "svelte";
import "../src/styles/tokens.css";
import "../src/styles/base.css";
import "../src/styles/markdown.css";
import { applyTheme, followSystem } from "../src/shell/theme";
import App from "./App.svelte";
import { Phone } from "./phone.svelte";
import { speak } from "./words";

applyTheme();
followSystem();
await speak();
const phone = new Phone();
mount(App, { target: document.getElementById("app")!, props: { phone } });
await phone.start();
