package analysis

import (
	"sync"
	"unicode/utf8"
)

// Traditional and simplified Chinese agree in most characters; where they do
// not, the simplified one is the term. The same is done to Japanese, which is
// changed alike in memories and in questions. The characters are the usual
// ones of technical and everyday text, each traditional one before its
// simplified one. Only pairs of the same size in UTF-8 may be here: offsets stay.
const variantPairs = `` +
	`並并亂乱亞亚來来倉仓個个們们倫伦偉伟側侧偵侦傑杰傳传債债傷伤傾倾僅仅僑侨價价儀仪億亿優优償偿儲储兒儿兌兑兩两冊册凍冻凱凯別别刪删剛刚創创劃划劇剧劉刘劍剑劑剂勁劲動动務务勝胜勞劳勢势勵励勸劝匯汇區区協协卻却厲厉參参叢丛吳吴員员問问啟启單单喪丧喬乔嗎吗嘆叹嘗尝囑嘱國国圍围園园圓圆圖图團团執执堅坚報报場场塊块塵尘墊垫壇坛壓压壘垒壞坏壯壮聲声壽寿夢梦夾夹奧奥奪夺奮奋婦妇媽妈孫孙學学寧宁實实審审寫写寬宽寶宝將将專专尋寻對对導导屆届屬属島岛峽峡嶺岭巖岩幣币帥帅師师帳帐帶带幫帮幹干幾几庫库廁厕廠厂廣广廢废廳厅張张強强彈弹歸归當当錄录後后徑径從从復复徵征徹彻恆恒愛爱態态慣惯慶庆憂忧憲宪憶忆應应懷怀懸悬戀恋戰战戲戏戶户拋抛掃扫掛挂採采揚扬換换揮挥損损搖摇搶抢摯挚撥拨撲扑擁拥擇择擊击擋挡擔担據据擠挤擬拟擴扩擺摆擾扰攔拦攝摄攜携敗败敵敌數数斷断於于時时晉晋晝昼暫暂曆历曉晓曬晒書书會会東东條条極极構构槍枪樂乐標标樞枢樣样樓楼橋桥機机橫横檔档檢检檯台櫃柜權权欄栏歐欧歡欢歲岁歷历殘残殺杀毀毁氣气決决沒没沖冲況况淚泪淨净淺浅減减測测渾浑湧涌湯汤準准溝沟溫温滅灭滯滞滾滚滿满漁渔漢汉漲涨漸渐潔洁潛潜澤泽濃浓濕湿濟济濤涛濫滥濱滨灑洒灘滩灣湾災灾為为烏乌無无煉炼煙烟煩烦熱热燈灯燒烧營营爐炉爭争爺爷牆墙獎奖獨独獲获獸兽獻献現现瑪玛環环產产異异畫画疊叠療疗瘋疯癒愈發发盜盗盡尽監监盤盘眾众睜睁瞭了矯矫礎础碼码確确礙碍禮礼禍祸禦御種种稱称穀谷積积穩稳窮穷竊窃競竞筆笔節节範范築筑簡简簽签籃篮類类糧粮糾纠紀纪約约紅红紋纹納纳純纯紙纸級级紛纷細细紹绍終终組组結结絕绝統统絡络給给絲丝經经綁绑維维綱纲網网緊紧緒绪線线締缔緣缘編编緩缓練练緻致縣县縮缩縱纵總总績绩繁繁織织繞绕繪绘繫系繼继續续罰罚罷罢羅罗習习聖圣聞闻聯联聰聪職职聽听肅肃脅胁脈脉腦脑腳脚腸肠膚肤臉脸臨临臺台與与興兴舉举舊旧艦舰艙舱藝艺節节華华萬万葉叶蓋盖蔣蒋藍蓝藥药蘇苏蘭兰處处虛虚號号蟲虫術术衛卫衝冲補补裝装裏里裡里製制複复襲袭見见規规視视親亲覺觉覽览觀观訂订計计訊讯討讨訓训記记設设許许訴诉診诊註注詐诈評评詞词試试詩诗話话該该詳详誌志認认語语誤误說说課课調调談谈請请論论諸诸諾诺謀谋謝谢證证識识譜谱譯译議议護护讀读變变讓让讚赞豐丰貝贝負负財财貢贡貧贫貨货販贩貫贯責责貴贵買买費费貼贴資资賊贼賓宾賞赏賢贤賣卖賬账賴赖購购贈赠贊赞贏赢趙赵趕赶跡迹踐践蹤踪車车軌轨軍军軟软軸轴較较載载輔辅輕轻輛辆輝辉輩辈輪轮輯辑輸输轄辖轉转辦办辭辞農农迴回這这連连進进遊游運运過过達达違违遙遥遞递遠远適适遲迟遷迁選选遺遗邊边郵邮鄉乡鄭郑醫医醬酱釋释針针釣钓鈕钮鉛铅銀银銅铜銷销鋒锋鋪铺鋼钢錢钱錯错鍋锅鍵键鎖锁鎮镇鏈链鏡镜鐘钟鐵铁鑑鉴鑰钥長长門门閃闪閉闭開开閒闲間间閱阅關关陣阵陰阴陳陈陸陆陽阳隊队階阶際际隨随險险隱隐隻只雖虽雙双雜杂雞鸡離离難难雲云電电霧雾靈灵靜静響响頁页頂顶項项順顺須须預预頓顿領领頭头頻频題题額额顏颜願愿類类顧顾顯显風风飛飞飯饭飲饮館馆馬马馭驭駐驻駕驾騎骑騙骗驅驱驗验驚惊體体髮发鬆松鬥斗魚鱼魯鲁鮮鲜鳥鸟鳳凤鴨鸭麗丽麥麦麼么黃黄點点黨党齊齐齒齿龍龙龐庞龜龟`

const (
	firstVariant = 0x4E00
	lastVariant  = 0x9FFF
)

// simplified maps a character from firstVariant on to the one that stands for
// it; 0 is itself.
var simplified = sync.OnceValue(func() []uint16 {
	table := make([]uint16, lastVariant-firstVariant+1)
	var from rune
	for _, r := range variantPairs {
		if from == 0 {
			from = r
			continue
		}
		if from != r {
			table[from-firstVariant] = uint16(r)
		}
		from = 0
	}
	return table
})

// simplify returns run with its characters simplified: run itself, or a copy
// of the same size that is valid until the next call.
func (a *Analyzer) simplify(run []byte) []byte {
	table := simplified()
	out := run
	for at := 0; at < len(run); {
		r, size := utf8.DecodeRune(run[at:])
		if r >= firstVariant && r <= lastVariant && table[r-firstVariant] != 0 {
			if &out[0] == &run[0] {
				a.plain = append(a.plain[:0], run...)
				out = a.plain
			}
			utf8.EncodeRune(out[at:], rune(table[r-firstVariant]))
		}
		at += size
	}
	return out
}
