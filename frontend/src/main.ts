import { mount } from "svelte";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/markdown.css";
import App from "./App.svelte";
import { Hearth } from "./app/hearth.svelte";
import { load } from "./i18n/words.svelte";
import { applyTheme, followSystem } from "./shell/theme";

applyTheme();
followSystem();
const hearth = new Hearth();
await Promise.all([hearth.start(), load("page")]);
mount(App, { target: document.getElementById("app")!, props: { hearth } });
